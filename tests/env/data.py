import io
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plot
import numpy
import pandas
from sklearn.linear_model import LinearRegression
table = pandas.DataFrame({"x": numpy.arange(3.0), "y": numpy.arange(3.0) * 2})
print([round(float(LinearRegression().fit(table[["x"]], table["y"]).coef_[0]), 6)])
table.plot(x="x", y="y")
picture = io.BytesIO()
plot.savefig(picture, format="png")
print(picture.getvalue()[1:4].decode())
print(table.shape)
