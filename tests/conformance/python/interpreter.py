"""The code interpreter and its contexts."""
import e2b

from harness import a, check, raises


@check
async def values_output_and_errors(api):
    async with api.sandbox(interpreter=True) as box:
        first = await a(box.run_code("1 + 1"))
        assert first.text == "2" and first.execution_count == 1
        await a(box.run_code("x = 5"))
        third = await a(box.run_code("x"))
        assert third.text == "5" and third.execution_count == 3
        failed = await a(box.run_code("1/0"))
        assert failed.error.name == "ZeroDivisionError" and "division by zero" in failed.error.traceback
        out, err, results, errors = [], [], [], []
        await a(box.run_code("import sys\nprint('out')\nprint('err', file=sys.stderr)\n3",
                             on_stdout=lambda message: out.append(message.line),
                             on_stderr=lambda message: err.append(message.line), on_result=results.append))
        assert "".join(out) == "out\n" and "".join(err) == "err\n" and results[0].text == "3"
        await a(box.run_code("boom", on_error=errors.append))
        assert errors[0].name == "NameError"
        assert "NameError" in errors[0].to_json()
        whole = await a(box.run_code("print('out'); 'value'"))
        assert "value" in whole.to_json() and "out" in whole.logs.to_json()
        assert (await a(box.run_code("def :"))).error.name == "SyntaxError"
        long = await a(box.run_code("for i in range(20000): print(i)"))
        assert "".join(long.logs.stdout) == "".join(f"{i}\n" for i in range(20000))
        assert "".join((await a(box.run_code("print('漢字 🦀')"))).logs.stdout) == "漢字 🦀\n"


@check
async def languages(api):
    async with api.sandbox(interpreter=True) as box:
        assert (await a(box.run_code("const y = await 6; y * 7", language="javascript"))).text == "42"
        typed = await a(box.run_code("const n: number = 4; n", language="typescript"))
        assert typed.error is None and typed.text == "4", typed.error
        shell = await a(box.run_code("echo $((6*7))", language="bash"))
        assert "".join(shell.logs.stdout) == "42\n"
        assert (await a(box.run_code("x <- 6; x * 7", language="r"))).text == "[1] 42"
        assert (await a(box.run_code("int x = 6; x * 7", language="java"))).text == "42"
        here = await a(box.run_code("import os; os.environ['E2B_SANDBOX_ID']"))
        assert here.text == box.sandbox_id, here
        await raises(Exception, lambda: box.run_code("1", language="cobol"))


@check
async def rich_results(api):
    async with api.sandbox(interpreter=True) as box:
        page = await a(box.run_code("class Page:\n  def _repr_html_(self): return '<b>1</b>'\nPage()"))
        assert page.results[0].html == "<b>1</b>" and "html" in list(page.results[0].formats())
        frame = await a(box.run_code("import pandas\npandas.DataFrame({'a': [1, 2], 'b': ['x', 'y']})"))
        assert frame.error is None, f"pandas must be installed to test this: {frame.error}"
        assert frame.results[0].data == {"a": [1, 2], "b": ["x", "y"]} and "<table" in frame.results[0].html
        chart = await a(box.run_code("import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4], label='l')\n"
                                     "plt.title('t')\nplt.xlabel('x (s)')\nplt.show()"))
        assert chart.error is None, f"matplotlib must be installed to test this: {chart.error}"
        drawn = [one for one in chart.results if one.chart]
        assert drawn and drawn[0].png and drawn[0].chart.title == "t" and drawn[0].chart.x_unit == "s"
        assert [list(point) for point in drawn[0].chart.elements[0].points] == [[1, 3], [2, 4]]


@check
async def contexts(api):
    async with api.sandbox(interpreter=True) as box:
        context = await a(box.create_code_context(cwd="/tmp"))
        assert (await a(box.run_code("import os; os.getcwd()", context=context))).text == "/tmp"
        await a(box.run_code("mine = 1", context=context))
        assert (await a(box.run_code("mine"))).error.name == "NameError"
        listed = await a(box.list_code_contexts())
        assert context.id in [one.id for one in listed]
        assert {"python", "javascript"} <= {one.language for one in listed}
        await a(box.restart_code_context(context))
        assert (await a(box.run_code("mine", context=context))).error.name == "NameError"
        await a(box.remove_code_context(context))
        await raises(Exception, lambda: box.run_code("1", context=context), "not found")


@check
async def giving_up_interrupts(api):
    async with api.sandbox(interpreter=True) as box:
        await raises(e2b.TimeoutException, lambda: box.run_code("import time; time.sleep(300)", timeout=2))
        assert (await a(box.run_code("'alive'", timeout=60))).text == "alive"
        once = await a(box.run_code("import os; os.environ.get('ONE')", envs={"ONE": "here"}))
        assert once.text == "here"
        assert (await a(box.run_code("os.environ.get('ONE') is None"))).text == "True"


@check
async def cells_contexts_and_forms_as_the_original_has_them(api):
    async with api.sandbox(interpreter=True) as box:
        made = await a(box.create_code_context())
        listed = await a(box.list_code_contexts())
        assert [one.language for one in listed] == ["python", "javascript", "python"] and listed[-1].id == made.id
        of_root = await a(box.create_code_context(language="python", cwd="/root"))
        last = (await a(box.list_code_contexts()))[-1]
        assert (last.id, last.cwd) == (of_root.id, "/root")
        frame = await a(box.run_code("""
        import pandas as pd
        pd.DataFrame({"a": [1, 2, 3]})
        """))
        assert frame.error is None and frame.results[0].data["a"] == [1, 2, 3], frame.error
        pie = await a(box.run_code("""
        import matplotlib.pyplot as plt
        plt.pie([90, 10], labels=["No", "No, in blue"], startangle=90)
        plt.show()
        """))
        assert [part.angle for part in pie.results[0].chart.elements] == [324, 36]
        shown = await a(box.run_code("""
        from PIL import Image
        Image.new("RGBA", (4, 4)).show()
        """))
        assert shown.error is None and shown.results[0].png
        assert (await a(box.run_code("[1, {'a': None}]"))).results[0].json == [1, {"a": None}]
        java = await a(box.run_code('System.out.println("Hello, World!")', language="java"))
        assert java.logs.stdout[0] == "Hello, World!"
        named = await a(box.run_code('System.getProperty("FOO")', language="java", envs={"FOO": "bar"}))
        assert named.results[0].text.strip() == "bar"
