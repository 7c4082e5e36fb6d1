import importlib, sys
names = {
    "debian": "IPython PIL aiohttp bs4 cv2 docx imageio joblib lxml matplotlib nltk numba numpy openpyxl pandas plotly pytest pytz "
              "requests scipy seaborn skimage sklearn soundfile sympy tornado urllib3 xarray xlrd xlsxwriter",
    "pypi": "bokeh gensim kaleido librosa spacy textblob",
}
lacking = []
for name in [name for group in sys.argv[1:] for name in names[group].split()]:
    try:
        importlib.import_module(name)
    except Exception as problem:
        lacking.append(f"{name}: {type(problem).__name__}: {problem}")
print("\n".join(lacking) or "all there")
sys.exit(bool(lacking))
