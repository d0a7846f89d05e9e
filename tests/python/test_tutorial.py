"""The tutorial's Python examples, as they are written there, in its order."""


import package

TUTORIAL = package.SOURCE / "tests" / "python" / "tutorial.py"
# Is sampled, however late: where there is a tracking file that has some rows more, and in another process for two seconds.
MODULE = """
import multiprocessing, os, time

def rows():
    with open("tracking.csv") as file:
        return file.read().count("\\n")

def example_function():
    block = bytearray(20_000_000)
    before = rows() if os.path.exists("tracking.csv") else None
    time.sleep(0.12 if multiprocessing.parent_process() is None else 2)
    while before is not None and rows() < before + 3:
        time.sleep(0.01)
"""


class Tutorial(package.PackageTest):
    def test_every_example_works(self):
        (self.folder / "example_module.py").write_text(MODULE)
        (self.folder / "path" / "to").mkdir(parents=True)
        done = self.run_python(TUTORIAL.read_text())
        self.assertTrue(done.stdout.endswith("ALL DONE\n"))
        self.assertIn("The following error occured while tracking: AN ERROR\n", done.stdout)
        self.assertIn("Code Block Compute Time:\n", done.stdout)


if __name__ == "__main__":
    package.main()
