// Runs before anything is drawn, so that a dark page does not flash.

import { applyTheme } from "./theme";

applyTheme();
