"""The tutorial's Python examples, as they are written there, in its order."""


import package

TUTORIAL = package.SOURCE / "tests" / "python" / "tutorial.py"


class Tutorial(package.PackageTest):
    def test_every_example_works(self):
        (self.folder / "example_module.py").write_text(
            "import time\n\ndef example_function():\n    block = bytearray(20_000_000)\n    time.sleep(0.12)\n"
        )
        (self.folder / "path" / "to").mkdir(parents=True)
        done = self.run_python(TUTORIAL.read_text())
        self.assertTrue(done.stdout.endswith("ALL DONE\n"))
        self.assertIn("The following error occured while tracking: AN ERROR\n", done.stdout)
        self.assertIn("Code Block Compute Time:\n", done.stdout)


if __name__ == "__main__":
    package.main()
