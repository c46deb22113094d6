// What every page has. Pages add modules of their own.
import { startApiCalls } from "./api_call.js";
import { startBatches } from "./batches.js";
import { startConnection } from "./connection.js";
import { startCountdowns } from "./countdown.js";
import { startForms } from "./forms.js";
import { startHeld } from "./held.js";
import { startPickers } from "./pickers.js";
import { startPressed } from "./pressed.js";
import { startShell } from "./shell.js";
import { startShortcuts } from "./shortcuts.js";
import { startTables } from "./tables.js";
import { startToasts } from "./toasts.js";

startToasts();
startShell();
startHeld();
startPressed();
startConnection();
startCountdowns();
startShortcuts();
startTables();
startBatches();
startPickers();
startForms();
startApiCalls();
