#!/usr/bin/env python3
"""Writes crates/analytics/data/public_holidays.txt: national public holidays, from the Python package `holidays`.

    pip install holidays && scripts/public-holidays.py

Run it when a country changes its holidays, and once in some years for later ones.
"""
import importlib.metadata
import pathlib

import holidays

COUNTRIES = (
    "AR AT AU BE BO BR CA CH CL CN CO CR CZ DE DK DO EC ES FI FR GB GR GT HN HU IE IL IN IT JP KR MX NI NL NO NZ PA PE "
    "PL PT PY RO SE SG SK SV TR US UY VE ZA"
).split()
YEARS = range(2009, 2037)

HEAD = """\
# National public holidays: country, year, and the days as month and day. Regional ones are not in it.
# Written by scripts/public-holidays.py from the Python package holidays {version} (MIT, see LICENSE-holidays beside this file).
"""

path = pathlib.Path(__file__).parent.parent / "crates/analytics/data/public_holidays.txt"
with path.open("w") as file:
    file.write(HEAD.format(version=importlib.metadata.version("holidays")))
    for country in COUNTRIES:
        # Some places keep different sets in their parts; GB without a part is what all of them share and England's.
        part = {"GB": "ENG"}.get(country)
        for year in YEARS:
            days = sorted(day for day in holidays.country_holidays(country, subdiv=part, years=year) if day.year == year)
            file.write(" ".join([country, str(year), *(day.strftime("%m%d") for day in days)]) + "\n")
