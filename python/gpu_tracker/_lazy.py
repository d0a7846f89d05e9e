"""Names of a module that load where they live when they are first asked for: importing the package stays quick."""


def names_of(namespace, where):
    """`__getattr__` and `__dir__` for a module.

    namespace: its globals(). where: {name: module of its package that has it}.
    """

    def __getattr__(name):
        module = where.get(name)
        if module is None:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f".{module}", namespace["__package__"]), name)
        namespace[name] = value
        return value

    def __dir__():
        return sorted({*namespace, *where, *namespace.get("__all__", ())})

    return __getattr__, __dir__
