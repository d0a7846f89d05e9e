#!/usr/bin/env python3
"""Writes src/model/carbon_intensity_table.h, the grams of CO2 equivalents for a kWh of electricity of each country, from

    codecarbon/data/private_infra/global_energy_mix.json

of the PyPI package codecarbon (MIT license), whose version is to be given. pycountry names the two-letter codes.

    pip download --no-deps codecarbon==VERSION; unzip codecarbon-VERSION-*.whl
    tools/make-carbon-intensity.py VERSION codecarbon/data/private_infra/global_energy_mix.json
"""

import json
import pathlib
import sys

import pycountry

OLDEST_YEAR = 2022
OUTPUT = pathlib.Path(__file__).parents[1] / "src" / "model" / "carbon_intensity_table.h"
HEAD = """/*
 * Carbon intensity of electricity by country and year: grams of CO2 equivalents for a kWh.
 *
 * Source: PyPI package codecarbon {version}, codecarbon/data/private_infra/global_energy_mix.json, its
 * "carbon_intensity" and "year"; figures older than {year}, and those of 0, are skipped. Made by
 * tools/make-carbon-intensity.py: not to be edited by hand.
 */
/* clang-format off */
#define CARBON_INTENSITY_SOURCE "codecarbon {version}"

"""


def main():
    version, path = sys.argv[1:]
    rows = []
    for code, mix in json.loads(pathlib.Path(path).read_text()).items():
        country = pycountry.countries.get(alpha_3=code)
        if country and mix["year"] >= OLDEST_YEAR and mix["carbon_intensity"] > 0:
            rows.append(f'{{"{country.alpha_2}", "{code}", "{mix["country_name"]}", {mix["carbon_intensity"]}, {mix["year"]}}},')
        else:
            print(f"skipped: {code} {mix['country_name']} {mix['year']}", file=sys.stderr)
    text = HEAD.format(version=version, year=OLDEST_YEAR)
    text += "static const struct gput_carbon_intensity intensities[] = {\n"
    text += "".join(f"    {row}\n" for row in sorted(rows)) + "};\n/* clang-format on */\n"
    OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
