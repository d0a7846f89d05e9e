// Runs before anything is drawn, so that a reader's choice of dark or light does not flash.

import { applyTheme, rememberedTheme } from "./theme";

applyTheme(rememberedTheme());
