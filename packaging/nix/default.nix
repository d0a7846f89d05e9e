# nix-build packaging/nix, in the source folder.
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "gpu-tracker";
  version = "1.0.0";
  src = pkgs.lib.cleanSource ../..;

  nativeBuildInputs = with pkgs; [ meson ninja pkg-config python3 ];
  buildInputs = with pkgs; [ jansson sqlite zlib ];
  mesonFlags = [ "-Dtests=false" "-Dpython=disabled" "-Db_lto=true" ];
  mesonInstallTags = [ "runtime" "devel" "man" ];

  # Opened when they are needed: SQLite, the libraries of plots, the driver of NVIDIA.
  postFixup = ''
    patchelf --add-rpath ${
      pkgs.lib.makeLibraryPath (with pkgs; [ sqlite zstd isa-l pcre2 curl snappy cairo pango ])
    }:${pkgs.addDriverRunpath.driverLink}/lib $out/bin/gpu-tracker
  '';

  doInstallCheck = true;
  installCheckPhase = "$out/bin/gpu-tracker run -- true";

  meta = {
    description = "What a program really used: RAM, CPU, GPU, energy and time";
    license = pkgs.lib.licenses.mit;
    platforms = pkgs.lib.platforms.linux;
    mainProgram = "gpu-tracker";
  };
}
