import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";
/******/ var __webpack_modules__ = ({

/***/ 613:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("assert");

/***/ }),

/***/ 434:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("events");

/***/ }),

/***/ 611:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("http");

/***/ }),

/***/ 692:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("https");

/***/ }),

/***/ 897:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("net");

/***/ }),

/***/ 24:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:fs");

/***/ }),

/***/ 67:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:http");

/***/ }),

/***/ 161:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:os");

/***/ }),

/***/ 760:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:path");

/***/ }),

/***/ 500:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:timers/promises");

/***/ }),

/***/ 756:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("tls");

/***/ }),

/***/ 23:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("util");

/***/ }),

/***/ 409:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   F: () => (/* binding */ secretsOf)
/* harmony export */ });
/* harmony import */ var _table_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(332);
/* harmony import */ var _values_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(960);


/** Shorter texts would blank out half of the log, and are no secrets. */
const shortestSecret = 4;
function textsIn(value) {
    if (typeof value === 'string')
        return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
/** Of the options of a hook, its secret and its headers: the rest is told in logs and summaries. */
function secretsInOptions(text) {
    const options = (0,_values_js__WEBPACK_IMPORTED_MODULE_1__/* .parseJsonObject */ .dw)(text);
    return options.ok ? [...textsIn(options.value['secret']), ...textsIn(options.value['headers'])] : [];
}
/** What has to be masked before anything else runs, whether the inputs are right or not. */
function secretsOf(environment) {
    const raw = (0,_table_js__WEBPACK_IMPORTED_MODULE_0__/* .readRawInputs */ .yI)(environment);
    const known = [raw.token, raw['hook-secret'], raw['github-token'], ...secretsInOptions(raw['hook-options'])];
    return [...new Set(known)].filter((secret) => secret.length >= shortestSecret);
}


/***/ }),

/***/ 332:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   yI: () => (/* binding */ readRawInputs)
/* harmony export */ });
/* unused harmony exports operations, inputTable, inputNames, unusedInputs */
const operations = [
    'sync',
    'lock',
    'unlock',
    'list-locks',
    'register-hook',
    'list-workspaces',
    'list-branches',
];
const all = 'all';
const withWorkspace = operations.filter((operation) => operation !== 'list-workspaces');
/** Every input of `action.yml`, and which operations use it. */
const inputTable = {
    operation: { fallback: '', usedBy: all },
    'base-url': { fallback: '', variable: 'WORKSPACE_BASE_URL', usedBy: all },
    'allow-http': { fallback: 'false', usedBy: all },
    token: { fallback: '', variable: 'WORKSPACE_TOKEN', usedBy: all },
    workspace: { fallback: '', variable: 'WORKSPACE_ID', usedBy: withWorkspace },
    branch: { fallback: '', usedBy: ['sync'] },
    path: { fallback: '', usedBy: ['lock', 'unlock', 'list-locks'] },
    glob: { fallback: 'true', usedBy: ['lock', 'unlock', 'list-locks'] },
    type: { fallback: 'exclusive', usedBy: ['lock'] },
    ttl: { fallback: '1h', usedBy: ['lock'] },
    wait: { fallback: '0s', usedBy: ['lock', 'sync'] },
    'auto-release': { fallback: 'true', usedBy: ['lock'] },
    'on-lost': { fallback: 'fail', usedBy: ['lock'] },
    locks: { fallback: '', usedBy: ['unlock'] },
    'locks-file': { fallback: '', usedBy: ['unlock'] },
    force: { fallback: 'false', usedBy: ['unlock'] },
    'changed-files': { fallback: 'false', usedBy: ['list-locks'] },
    'fail-if-locked': { fallback: 'false', usedBy: ['list-locks'] },
    'ignore-owner': { fallback: '', usedBy: ['list-locks'] },
    'hook-url': { fallback: '', usedBy: ['register-hook'] },
    'hook-events': { fallback: '', usedBy: ['register-hook'] },
    'hook-secret': { fallback: '', usedBy: ['register-hook'] },
    'hook-options': { fallback: '', usedBy: ['register-hook'] },
    'request-timeout': { fallback: '30s', usedBy: all },
    retries: { fallback: '4', usedBy: all },
    summary: { fallback: 'true', usedBy: all },
    'github-token': { fallback: '', usedBy: ['list-locks'] },
};
/** The keys of the table are its type: the compiler gives them as plain strings. */
const inputNames = Object.keys(inputTable);
const row = (name) => inputTable[name];
/** The runner's name for an input: spaces become `_`, dashes stay. */
const runnerVariable = (name) => `INPUT_${name.toUpperCase()}`;
const given = (environment, variable) => variable === undefined ? '' : (environment[variable] ?? '').trim();
/** An input, else the variable that stands in for it, else what `action.yml` would give. */
function readRawInputs(environment) {
    const read = (name) => given(environment, runnerVariable(name)) || given(environment, row(name).variable) || row(name).fallback;
    // Every name of the table is there, which fromEntries cannot tell.
    return Object.fromEntries(inputNames.map((name) => [name, read(name)]));
}
const isUsedBy = (name, operation) => {
    const { usedBy } = row(name);
    return usedBy === 'all' || usedBy.includes(operation);
};
/** Inputs that were given, and that the operation does not look at. */
const unusedInputs = (environment, operation) => inputNames.filter((name) => {
    const text = given(environment, runnerVariable(name));
    // The runner fills this one in by itself, from the default in action.yml.
    if (name === 'github-token' || text === '' || text === row(name).fallback)
        return false;
    return !isUsedBy(name, operation);
});


/***/ }),

/***/ 960:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   GE: () => (/* binding */ parseDurationBetween),
/* harmony export */   dw: () => (/* binding */ parseJsonObject),
/* harmony export */   mA: () => (/* binding */ parseLossReaction),
/* harmony export */   oA: () => (/* binding */ parseWholeNumber),
/* harmony export */   sg: () => (/* binding */ isToken),
/* harmony export */   yG: () => (/* binding */ parseBoolean)
/* harmony export */ });
/* unused harmony exports lossReactions, lines, words */
/* harmony import */ var _client_json_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(395);
/* harmony import */ var _interface_duration_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(393);
/* harmony import */ var _interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(296);



/** A token goes into a header: RFC 9110, section 5.5, without blanks. */
const isToken = (text) => /^[\x21-\x7e]+$/.test(text);
/** YAML 1.2 core schema: the words for yes and no that a workflow file can have. */
function parseBoolean(text) {
    if (/^(?:true|True|TRUE)$/.test(text))
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)(true);
    if (/^(?:false|False|FALSE)$/.test(text))
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)(false);
    return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)('It has to be true or false.');
}
const lossReactions = ['fail', 'warn'];
function parseLossReaction(text) {
    const found = lossReactions.find((each) => each === text);
    return found === undefined ? (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)(`It has to be one of ${lossReactions.join(', ')}.`) : (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)(found);
}
function parseWholeNumber(most) {
    return (text) => {
        const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
        return number <= most ? (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)(number) : (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)(`It has to be a whole number from 0 to ${most}.`);
    };
}
function parseDurationBetween(least, most) {
    return (text) => {
        const duration = (0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .parseDuration */ .E9)(text);
        if (!duration.ok)
            return duration;
        return duration.value.seconds >= least.seconds && duration.value.seconds <= most.seconds
            ? duration
            : (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)(`It has to be from ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .formatDuration */ .a3)(least)} to ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .formatDuration */ .a3)(most)}.`);
    };
}
const lines = (text) => text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
const words = (text) => text
    .split(/[\n,]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
/** One that nests without end is refused too: it would exhaust the stack of whoever looks through it. */
function parseJsonObject(text) {
    const json = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_2__/* .parseJson */ .qF)(text, (each) => each);
    if (json.ok && (0,_client_json_js__WEBPACK_IMPORTED_MODULE_2__/* .isObject */ .Gv)(json.value))
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)(json.value);
    // Without the text: it may hold secrets.
    return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)('It has to be a JSON object, such as {"format": "github"}.');
}


/***/ }),

/***/ 818:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  _Q: () => (/* binding */ addressIn),
  Zv: () => (/* binding */ isGrantedLock),
  hB: () => (/* binding */ readEntry),
  eg: () => (/* binding */ ttlIn)
});

// EXTERNAL MODULE: ./build/bundle/compiled/client/workspace-id.js
var workspace_id = __nccwpck_require__(228);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/lock-path.js
var lock_path = __nccwpck_require__(860);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/duration.js
var interface_duration = __nccwpck_require__(393);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/parsed.js
var parsed = __nccwpck_require__(296);
;// CONCATENATED MODULE: ./build/bundle/compiled/interface/ttl.js


const minTtl = { seconds: 1 };
const maxTtl = { seconds: 30 * 86_400 };
const withinLimits = (duration) => duration.seconds >= minTtl.seconds && duration.seconds <= maxTtl.seconds;
function parseTtl(text) {
    const duration = (0,interface_duration/* parseDuration */.E9)(text);
    if (!duration.ok)
        return duration;
    if (withinLimits(duration.value))
        return (0,parsed/* accepted */.q)(duration.value);
    return (0,parsed/* refused */.J)(`A lock lives for ${(0,interface_duration/* formatDuration */.a3)(minTtl)} at the least and ${(0,interface_duration/* formatDuration */.a3)(maxTtl)} at the most.`);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/entry.js



const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const areTexts = (value, names) => names.every((name) => typeof value[name] === 'string');
const areTextsIfThere = (value, names) => names.every((name) => value[name] === undefined || typeof value[name] === 'string');
const isGrantedLock = (value) => isRecord(value) &&
    areTexts(value, ['path', 'type', 'expires_at']) &&
    areTextsIfThere(value, ['id', 'etag', 'owner', 'acquired_at']) &&
    (value['fence'] === undefined || Number.isSafeInteger(value['fence']));
const areTextsIn = (value) => Array.isArray(value) && value.every((each) => typeof each === 'string');
const isPlace = ({ service, workspace, path }) => typeof service === 'string' &&
    typeof workspace === 'string' &&
    (0,workspace_id/* parseWorkspaceId */.m)(workspace).ok &&
    typeof path === 'string' &&
    (0,lock_path/* parseHeldPath */.yo)(path).ok;
function isEntry(value) {
    if (value['kind'] === 'wish') {
        const named = areTextsIfThere(value, ['stepName']);
        return named && areTexts(value, ['service', 'workspace', 'step', 'at']) && areTextsIn(value['paths']);
    }
    if (!isPlace(value) || !areTexts(value, ['at']))
        return false;
    switch (value['kind']) {
        case 'intent':
            return (areTexts(value, ['step', 'key', 'type', 'ttl']) &&
                parseTtl(String(value['ttl'])).ok &&
                typeof value['byService'] === 'boolean');
        case 'granted':
            return (areTexts(value, ['step', 'key']) && Number.isSafeInteger(value['waitedMs']) && isGrantedLock(value['lock']));
        case 'denied':
            return areTexts(value, ['step', 'key']);
        case 'releasing':
            return areTextsIfThere(value, ['id', 'etag']);
        case 'ended':
            return (areTextsIfThere(value, ['id', 'etag']) && ['released', 'absent', 'lost'].some((how) => how === value['how']));
        default:
            return false;
    }
}
/** Undefined for a line that was cut off, or that somebody else wrote. */
function readEntry(line) {
    try {
        const value = JSON.parse(line);
        // Field by field it has been examined for the kind that it says it is.
        return isRecord(value) && isEntry(value) ? value : undefined;
    }
    catch {
        return undefined;
    }
}
const sure = (parsed) => {
    if (parsed.ok)
        return parsed.value;
    throw new Error(`The ledger has what it cannot have. ${parsed.why}`);
};
/** What an entry names, as the client takes it: it was parsed before it was written, and when it was read. */
const addressIn = ({ workspace, path, }) => ({
    workspace: sure((0,workspace_id/* parseWorkspaceId */.m)(workspace)),
    path: sure((0,lock_path/* parseHeldPath */.yo)(path)),
});
const ttlIn = ({ ttl }) => sure(parseTtl(ttl));


/***/ }),

/***/ 278:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   D: () => (/* binding */ readKept)
/* harmony export */ });
/* unused harmony export keptText */
/* harmony import */ var _client_workspace_id_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(228);
/* harmony import */ var _entry_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(818);
/* harmony import */ var _ledger_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(463);



/** It becomes one environment string, which has at most 32,767 characters on Windows. */
const longest = 30_000;
/** Only what proves a lock, and when it ends. */
const compact = ({ lock }) => ({
    path: lock.path,
    type: lock.type,
    id: lock.id,
    etag: lock.etag,
    acquired_at: lock.acquired_at,
    fence: lock.fence,
    expires_at: lock.expires_at,
});
function keptText(about, grants, conceal) {
    const all = concealedJson({ ...about, locks: grants.map(compact) }, conceal);
    return all.length <= longest ? all : JSON.stringify(about);
}
/** Undefined when the step did not come so far. */
function readKept(text) {
    let value;
    try {
        value = JSON.parse(text);
    }
    catch {
        return undefined;
    }
    if (typeof value !== 'object' || value === null)
        return undefined;
    // An object that JSON made has nothing but string keys.
    const { service, workspace, handedOn, locks } = value;
    if (typeof service !== 'string' || typeof workspace !== 'string' || !(0,_client_workspace_id_js__WEBPACK_IMPORTED_MODULE_2__/* .parseWorkspaceId */ .m)(workspace).ok)
        return undefined;
    return {
        service,
        workspace,
        handedOn: handedOn === true,
        locks: Array.isArray(locks) ? locks.filter(_entry_js__WEBPACK_IMPORTED_MODULE_0__/* .isGrantedLock */ .Zv) : undefined,
    };
}


/***/ }),

/***/ 463:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   SB: () => (/* binding */ ledgerFile),
/* harmony export */   au: () => (/* binding */ openLedger)
/* harmony export */ });
/* unused harmony export concealedJson */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(24);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(760);
/* harmony import */ var _entry_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(818);



/** In the runner's temporary folder, which all steps of a job share and which is emptied with the job. */
const ledgerFile = (temporaryFolder) => (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(temporaryFolder, 'workspace-automation', 'ledger.jsonl');
/** What the service says of a lock. Everything else in an entry is what was asked for, and has to stay as it is. */
const fromService = new Set(['id', 'etag', 'type', 'owner', 'acquired_at', 'expires_at']);
/** As JSON, without the secrets that the service may have sent back in what it says of a lock. */
const concealedJson = (value, conceal) => JSON.stringify(value, (name, member) => fromService.has(name) && typeof member === 'string' ? conceal(member) : member);
function openLedger(file, conceal) {
    return {
        file,
        append(...entries) {
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.mkdirSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.dirname)(file), { recursive: true, mode: 0o700 });
            // A line break before as well as behind: the line of a step that was killed may have been cut off.
            const text = entries.map((entry) => `\n${concealedJson(entry, conceal)}\n`).join('');
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.appendFileSync)(file, text, { mode: 0o600 });
        },
        read() {
            const lines = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(file, 'utf8')
                .split('\n')
                .filter((line) => line !== '');
            const entries = lines.map(_entry_js__WEBPACK_IMPORTED_MODULE_2__/* .readEntry */ .hB);
            const readable = entries.filter((entry) => entry !== undefined);
            return { entries: readable, damaged: entries.length - readable.length };
        },
    };
}


/***/ }),

/***/ 956:
/***/ ((__webpack_module__, __unused_webpack___webpack_exports__, __nccwpck_require__) => {

__nccwpck_require__.a(__webpack_module__, async (__webpack_handle_async_dependencies__, __webpack_async_result__) => { try {
/* harmony import */ var _inputs_secrets_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(409);
/* harmony import */ var _ledger_kept_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(278);
/* harmony import */ var _report_command_files_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(868);
/* harmony import */ var _report_reporter_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(141);




/**
 * Releases what the step has locked and not released. The job fails if one of its locks was lost, unless `on-lost` says
 * otherwise; what cannot be released leaves the result of the job as it is.
 */
async function post() {
    const step = (0,_report_command_files_js__WEBPACK_IMPORTED_MODULE_2__/* .getState */ .Gu)('step');
    // Written before the first lock is asked for: without it, there is nothing to release.
    if (step === '')
        return;
    const secrets = (0,_inputs_secrets_js__WEBPACK_IMPORTED_MODULE_0__/* .secretsOf */ .F)(process.env);
    const reporter = (0,_report_reporter_js__WEBPACK_IMPORTED_MODULE_3__/* .createReporter */ .A)(secrets);
    try {
        const kept = (0,_ledger_kept_js__WEBPACK_IMPORTED_MODULE_1__/* .readKept */ .D)((0,_report_command_files_js__WEBPACK_IMPORTED_MODULE_2__/* .getState */ .Gu)('locks'));
        if (kept?.handedOn) {
            reporter.log.line('The locks of this step outlive the job: `auto-release` is false.');
            return;
        }
        const { endStep } = await __nccwpck_require__.e(/* import() */ 405).then(__nccwpck_require__.bind(__nccwpck_require__, 405));
        await endStep({ step, kept, onLost: (0,_report_command_files_js__WEBPACK_IMPORTED_MODULE_2__/* .getState */ .Gu)('on-lost'), secrets, reporter, environment: process.env });
    }
    catch (error) {
        reporter.log.warn(`The locks of this step could not be released, and stay until their ttl ends: ${error instanceof Error ? error.message : String(error)}`);
    }
}
await post();

__webpack_async_result__();
} catch(e) { __webpack_async_result__(e); } }, 1);

/***/ }),

/***/ 868:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Gu: () => (/* binding */ getState),
/* harmony export */   S0: () => (/* binding */ addSummary),
/* harmony export */   uH: () => (/* binding */ setOutput)
/* harmony export */ });
/* unused harmony export saveState */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(24);

/** Outside of a workflow there is no such file, and nobody who reads it. */
function append(variable, text) {
    const file = process.env[variable];
    if (file)
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.appendFileSync)(file, text);
}
/** The runner reads on to the line that ends the value, whatever stands in between: no such line may be part of it. */
function endOf(value) {
    let number = 1;
    while (value.includes(`end-${number}`))
        number += 1;
    return `end-${number}`;
}
function entry(name, value) {
    const end = endOf(value);
    return `${name}<<${end}\n${value}\n${end}\n`;
}
const setOutput = (name, value) => append('GITHUB_OUTPUT', entry(name, value));
/** For the post-step of the same step. */
const saveState = (name, value) => append('GITHUB_STATE', entry(name, value));
/** What the main of this step has saved; empty when it has not. */
const getState = (name) => process.env[`STATE_${name}`] ?? '';
const addSummary = (markdown) => append('GITHUB_STEP_SUMMARY', markdown);


/***/ }),

/***/ 141:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  A: () => (/* binding */ createReporter)
});

// EXTERNAL MODULE: ./build/bundle/compiled/interface/redact.js
var interface_redact = __nccwpck_require__(148);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/outcome.js
const outputNames = [
    'status',
    'sync_id',
    'branch',
    'estimated_objects',
    'locks',
    'locks_file',
    'count',
    'acquired',
    'holder',
    'waited_seconds',
    'released',
    'hook_id',
    'workspaces',
    'branches',
];
const succeeded = (outputs, sentence, ...tables) => ({
    outputs,
    sentence,
    tables,
    failures: [],
    notes: [],
});
const failed = (outputs, why, ...tables) => ({
    outputs,
    sentence: why,
    tables,
    failures: [why],
    notes: [],
});

// EXTERNAL MODULE: ./build/bundle/compiled/action/report/words.js
var words = __nccwpck_require__(46);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/report/annotations.js

/** GitHub shows ten of a step, and says nothing of the others. */
const mostAnnotations = 10;
/** Of these; the other places are for what a step fails for. */
const mostWarnings = 4;
/** Why the step failed first, then the notes on files; what is too much is counted in the last one. */
function annotationsOf(failures, notes, places) {
    const all = [...failures.map((text) => ({ text })), ...notes];
    if (all.length <= places)
        return { shown: all, others: [] };
    const others = all.slice(places - 1);
    const counted = { text: `And ${(0,words/* count */.U9)(others.length, 'more of these', 'more of these')}: see the log of the step.` };
    return { shown: [...all.slice(0, places - 1), counted], others };
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/report/command-files.js
var command_files = __nccwpck_require__(868);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/report/safe-text.js
/** C0, DEL, C1, the two Unicode line breaks, and the marks that turn the direction of what follows. */
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;
const codeOf = (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
/**
 * Text from outside as a part of one log line: it cannot begin another line, nor a workflow command. The runner takes
 * `::` at the start of a line for one, and `##[` anywhere in it (actions/runner, src/Runner.Common/ActionCommand.cs).
 */
const oneLine = (text) => text
    .replace(unprintable, codeOf)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\[)/g, '# #');
/** The last three would become a mention, an issue or an emoji, in HTML too: GitHub looks at text as it is shown. */
const htmlSpelling = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
    '@': '@<wbr>',
    '#': '#<wbr>',
    ':': ':<wbr>',
};
/** Text from outside in HTML, of which it can be no part but text. Markdown is not read inside an HTML block. */
const inHtml = (text) => oneLine(text).replace(/[&<>"'@#:]/g, (character) => htmlSpelling[character] ?? character);

;// CONCATENATED MODULE: ./build/bundle/compiled/action/report/summary.js


/** GitHub takes 1 MiB of summary from a step and drops all of it when there is more. */
const mostBytes = 900 * 1_024;
const longestSentence = 4_000;
const cut = (text) => (text.length > longestSentence ? `${text.slice(0, longestSentence)}…` : text);
const bytes = (text) => Buffer.byteLength(text);
const cells = (tag, row, conceal) => `<tr>${row.map((cell) => `<${tag}>${inHtml(conceal(cell))}</${tag}>`).join('')}</tr>\n`;
/** As many rows as there is room for; what is left out is counted. */
function tableHtml({ head, rows }, room, conceal) {
    const begin = `<table>\n${cells('th', head, conceal)}`;
    const end = '</table>\n';
    let left = room - bytes(begin) - bytes(end) - 100;
    const shown = [];
    for (const row of rows) {
        const html = cells('td', row, conceal);
        left -= bytes(html);
        if (left < 0)
            break;
        shown.push(html);
    }
    const more = rows.length - shown.length;
    const rest = more === 0 ? '' : `<p>And ${(0,words/* grouped */.zD)(more)} more.</p>\n`;
    return `${begin}${shown.join('')}${end}${rest}`;
}
/**
 * One sentence, then the tables. All of it is HTML, in which text from outside cannot be anything but text. Secrets are
 * taken out before: in HTML they might not be recognised any more.
 */
function summaryHtml(title, sentence, tables, conceal) {
    let html = `<h3>${inHtml(title)}</h3>\n<p>${inHtml(cut(conceal(sentence)))}</p>\n`;
    for (const table of tables) {
        if (table.rows.length > 0)
            html += tableHtml(table, mostBytes - bytes(html), conceal);
    }
    return `${html}\n`;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/report/workflow-commands.js
/**
 * What a step says in its log, and what the runner takes from there: docs.github.com, "Workflow commands for GitHub
 * Actions". A test holds these lines to those of `@actions/core`. That one itself would have to be loaded as a whole,
 * with its HTTP client, TLS and child processes, before the first wrong input could be told: as long as all of Node.
 */
const escaped = (text) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapedProperty = (text) => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
function command(name, text, properties = {}) {
    const given = Object.entries(properties).filter(([, value]) => value !== '');
    const list = given.map(([key, value]) => `${key}=${escapedProperty(value)}`).join(',');
    info(`::${name}${list === '' ? '' : ` ${list}`}::${escaped(text)}`);
}
function info(line) {
    process.stdout.write(`${line}\n`);
}
const debug = (text) => command('debug', text);
const warning = (text) => command('warning', text);
const error = (text, properties) => command('error', text, properties);
const setSecret = (secret) => command('add-mask', secret);
const startGroup = (title) => command('group', title);
const endGroup = () => command('endgroup', '');

;// CONCATENATED MODULE: ./build/bundle/compiled/action/report/reporter.js








/** One environment string has at most 128 KiB, and outputs become such strings in later steps. */
const largestOutput = 100_000;
/** A person who unfolds a group wants to see what it was about, not a thousand lines. */
const longestGroup = 100;
function createReporter(secrets, redact = (0,interface_redact/* createRedactor */.lY)(secrets)) {
    for (const secret of secrets)
        setSecret(secret);
    const safe = (text) => oneLine(redact(text));
    let warnings = 0;
    const leftEmpty = new Set();
    function warn(text) {
        warnings += 1;
        // The last place is for how many more there are.
        if (warnings < mostWarnings)
            warning(safe(text));
        else
            info(safe(`Warning: ${text}`));
    }
    function group(title, lines) {
        if (lines.length === 0) {
            info(safe(title));
            return;
        }
        startGroup(safe(title));
        for (const line of lines.slice(0, longestGroup))
            info(`  ${safe(line)}`);
        if (lines.length > longestGroup)
            info(`  And ${(0,words/* count */.U9)(lines.length - longestGroup, 'more', 'more')}.`);
        endGroup();
    }
    const log = {
        line: (text) => info(safe(text)),
        warn,
        debug: (text) => debug(safe(text)),
        group,
    };
    const whereElse = (name, { locks_file }) => name === 'locks' && locks_file !== undefined ? ' Use the output `locks_file` instead.' : '';
    function publish(outputs) {
        for (const name of outputNames) {
            const value = outputs[name];
            if (value === undefined)
                continue;
            const text = redact(value);
            if (Buffer.byteLength(text) <= largestOutput)
                (0,command_files/* setOutput */.uH)(name, text);
            else {
                (0,command_files/* setOutput */.uH)(name, '');
                // What is written early is written again at the end of the step.
                if (leftEmpty.has(name))
                    continue;
                leftEmpty.add(name);
                warn(`The output \`${name}\` is too large for a step and has been left empty.${whereElse(name, outputs)}`);
            }
        }
    }
    function annotate({ text, title, file }) {
        // The runner masks the text of an annotation, and nothing else of it.
        error(safe(text), {
            ...(title !== undefined && { title: safe(title) }),
            ...(file !== undefined && { file: safe(file) }),
        });
    }
    /** The last thing that a step says: what there was no place for is counted. */
    function tellErrors(failures, notes) {
        const hidden = warnings - (mostWarnings - 1);
        const { shown, others } = annotationsOf(failures, notes, mostAnnotations - Math.min(warnings, mostWarnings));
        if (others.length > 0) {
            group(`${(0,words/* count */.U9)(others.length, 'more error')}:`, others.map(({ text }) => text));
        }
        if (hidden > 0)
            warning(`And ${(0,words/* count */.U9)(hidden, 'more warning')}: see the log of the step.`);
        for (const annotation of shown)
            annotate(annotation);
    }
    function fail(failures, notes) {
        process.exitCode = 1;
        tellErrors(failures, notes);
    }
    function summarise(title, sentence, tables, picture = '') {
        try {
            (0,command_files/* addSummary */.S0)(summaryHtml(title, sentence, tables, redact) + picture);
        }
        catch (error) {
            warn(`The job summary could not be written: ${error instanceof Error ? error.message : String(error)}`);
        }
    }
    return {
        log,
        publish,
        refuse: (problems) => fail(problems, []),
        finish(title, { outputs, sentence, tables, failures, notes }, withSummary) {
            publish(outputs);
            if (withSummary)
                summarise(title, sentence, tables);
            if (failures.length > 0)
                fail(failures, notes);
            else
                tellErrors([], []);
        },
        tellRelease({ sentence, table, picture, failures, warnings: cautions, lines }, withSummary) {
            group(sentence, lines);
            for (const text of cautions)
                warn(text);
            if (withSummary)
                summarise('Workspace: locks at the end of the job', sentence, [table], picture);
            if (failures.length > 0)
                fail(failures, []);
            else
                tellErrors([], []);
        },
    };
}


/***/ }),

/***/ 46:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   U9: () => (/* binding */ count),
/* harmony export */   n$: () => (/* binding */ moment),
/* harmony export */   p0: () => (/* binding */ duration),
/* harmony export */   qo: () => (/* binding */ clockTime),
/* harmony export */   zD: () => (/* binding */ grouped)
/* harmony export */ });
/* unused harmony export distance */
/* harmony import */ var _interface_duration_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(393);

/**
 * "12,345". `toLocaleString` would say the same, and starts all that Node knows of languages for it, which takes half as
 * long as Node itself.
 */
const grouped = (number) => String(number).replace(/(?<!\.\d*)\d(?=(?:\d{3})+(?!\d))/g, '$&,');
/** "1 path", "2 paths". */
const count = (number, one, many = `${one}s`) => `${grouped(number)} ${number === 1 ? one : many}`;
/** How long something took: with tenths while these mean something. */
const duration = (milliseconds) => milliseconds < 10_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : (0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .span */ .Ln)(milliseconds / 1_000);
/** "in 12 min", or "3 min ago". */
function distance(time, now) {
    const seconds = (time - now) / 1_000;
    return seconds >= 0 ? `in ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .span */ .Ln)(seconds)}` : `${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .span */ .Ln)(-seconds)} ago`;
}
/** "14:05 UTC", with the date where it is another day. */
function clockTime(time, now) {
    const iso = new Date(time).toISOString();
    const clock = `${iso.slice(11, 16)} UTC`;
    return iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? clock : `${iso.slice(0, 10)} ${clock}`;
}
/** "14:05 UTC (in 12 min)". */
const moment = (time, now) => `${clockTime(time, now)} (${distance(time, now)})`;


/***/ }),

/***/ 395:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Gv: () => (/* binding */ isObject),
/* harmony export */   PE: () => (/* binding */ firstMember),
/* harmony export */   ZC: () => (/* binding */ nameIn),
/* harmony export */   cy: () => (/* binding */ isArray),
/* harmony export */   eB: () => (/* binding */ asObject),
/* harmony export */   qF: () => (/* binding */ parseJson),
/* harmony export */   u$: () => (/* binding */ firstName)
/* harmony export */ });
/* harmony import */ var _interface_parsed_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(296);

/** More could only be meant to exhaust the stack of whoever reads it, or writes it again. */
const maxDepth = 64;
class TooDeep extends Error {
}
function copy(value, onText, depth) {
    if (value === null || typeof value === 'boolean' || typeof value === 'number')
        return value;
    if (typeof value === 'string')
        return onText(value);
    if (depth === maxDepth)
        throw new TooDeep();
    if (Array.isArray(value))
        return value.map((item) => copy(item, onText, depth + 1));
    return Object.fromEntries(
    // What JSON.parse gives is nothing else by now.
    Object.entries(Object(value)).map(([name, member]) => [onText(name), copy(member, onText, depth + 1)]));
}
/** Reads JSON from elsewhere; `onText` sees each of its texts first. */
function parseJson(text, onText) {
    try {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .accepted */ .q)(copy(JSON.parse(text), onText, 0));
    }
    catch (error) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)(error instanceof TooDeep ? 'it nests too deep' : 'it is not valid JSON');
    }
}
const isObject = (json) => typeof json === 'object' && json !== null && !Array.isArray(json);
const asObject = (json) => (isObject(json) ? json : {});
const isArray = (json) => Array.isArray(json);
/** Of the members with these names the first that is there. */
function firstMember(object, names) {
    const name = names.find((candidate) => Object.hasOwn(object, candidate) && object[candidate] !== null);
    return name === undefined ? undefined : object[name];
}
/** A name or an id: a text, or a number that is still exact. */
function nameIn(json) {
    if (typeof json === 'string')
        return json === '' ? undefined : json;
    return typeof json === 'number' && Number.isSafeInteger(json) ? String(json) : undefined;
}
/** Of the members with these names the first that is a name or an id. */
function firstName(object, names) {
    for (const name of names) {
        const found = Object.hasOwn(object, name) ? nameIn(object[name]) : undefined;
        if (found !== undefined)
            return found;
    }
    return undefined;
}


/***/ }),

/***/ 228:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   m: () => (/* binding */ parseWorkspaceId)
/* harmony export */ });
/* harmony import */ var _interface_parsed_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(296);

const maxLength = 256;
function whyNot(text) {
    if (text === '')
        return 'A workspace must not be empty.';
    if (!text.isWellFormed() || /[\p{Cc}/\\]/u.test(text)) {
        return 'A workspace must not have slashes, backslashes or control characters.';
    }
    if (text === '.' || text === '..')
        return 'A workspace must not be "." or "..".';
    if (text.length > maxLength)
        return `A workspace must not be longer than ${maxLength} characters.`;
    return undefined;
}
function parseWorkspaceId(text) {
    const why = whyNot(text);
    // A brand cannot be computed: this is the one place that gives it, to what has just been examined.
    return why === undefined ? (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .accepted */ .q)(text) : (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)(why);
}


/***/ }),

/***/ 393:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   E$: () => (/* binding */ spanOfMs),
/* harmony export */   E9: () => (/* binding */ parseDuration),
/* harmony export */   Ln: () => (/* binding */ span),
/* harmony export */   Rz: () => (/* binding */ milliseconds),
/* harmony export */   a3: () => (/* binding */ formatDuration)
/* harmony export */ });
/* unused harmony export durationPattern */
/* harmony import */ var _parsed_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(296);

const secondsIn = { s: 1, m: 60, h: 3_600, d: 86_400 };
/** The number and the unit. */
const durationPattern = new RegExp(`^(\\d+)([${Object.keys(secondsIn).join('')}])$`);
const isUnit = (text) => text !== undefined && text in secondsIn;
function parseDuration(text) {
    const [, digits, unit] = durationPattern.exec(text) ?? [];
    if (digits === undefined || !isUnit(unit)) {
        return (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)('It has to be a whole number and one of the units s, m, h and d, such as 90s, 15m, 1h or 2d.');
    }
    const duration = { seconds: Number(digits) * secondsIn[unit] };
    if (!Number.isSafeInteger(milliseconds(duration)))
        return (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)('It is longer than can be counted.');
    return (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .accepted */ .q)(duration);
}
/** Writes the duration with the largest unit that leaves a whole number. */
function formatDuration({ seconds }) {
    for (const unit of ['d', 'h', 'm']) {
        if (seconds > 0 && seconds % secondsIn[unit] === 0)
            return `${seconds / secondsIn[unit]}${unit}`;
    }
    return `${seconds}s`;
}
const milliseconds = ({ seconds }) => seconds * 1_000;
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
/** A span of time as people say it: "40 s", "12 min", "3 h 20 min", "2 d 4 h". */
function span(seconds) {
    const whole = Math.max(0, Math.round(seconds));
    if (whole < 2 * minute)
        return `${whole} s`;
    const minutes = Math.round(whole / minute);
    if (minutes < 60)
        return `${minutes} min`;
    const hours = Math.floor(whole / hour);
    if (hours < 48) {
        const rest = Math.round((whole - hours * hour) / minute);
        return rest === 0 || rest === 60 ? `${hours + (rest === 60 ? 1 : 0)} h` : `${hours} h ${rest} min`;
    }
    const days = Math.floor(whole / day);
    const rest = Math.floor((whole - days * day) / hour);
    return rest === 0 ? `${days} d` : `${days} d ${rest} h`;
}
/** The same of milliseconds, rounded up: "300 ms", "40 s". */
const spanOfMs = (ms) => (ms < 1_000 ? `${Math.ceil(ms)} ms` : span(Math.ceil(ms / 1_000)));


/***/ }),

/***/ 860:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   IH: () => (/* binding */ asOneSegment),
/* harmony export */   ne: () => (/* binding */ asSegments),
/* harmony export */   yo: () => (/* binding */ parseHeldPath)
/* harmony export */ });
/* unused harmony exports maxLockPathBytes, forbiddenInLockPath, misleading, parseLockPath, canonicalLockPath, lockPathFromUrl */
/* harmony import */ var _parsed_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(296);

/** In bytes of UTF-8, as they are kept: composed. */
const maxLockPathBytes = 1_024;
/**
 * NFC leaves less than a quarter of no text (of three jamo, one syllable of Hangul; U+0390, of seven bytes two), so what
 * is longer than this cannot become a path. It is refused before it is composed: marks in the wrong order take time that
 * grows with the square of their number.
 */
const maxUncomposedBytes = 4 * maxLockPathBytes;
const tooLong = `A path must not be longer than ${maxLockPathBytes} bytes.`;
const bytesIn = (text) => new TextEncoder().encode(text).length;
/** What no path has anywhere, and the sentence that says so. */
const forbidden = [
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    [/[\x00-\x1f\x7f-\x9f]/, 'A path must not have control characters.'],
    [/\\/, 'A path is written with /, not with a backslash.'],
    [/^\//, 'A path is relative to the workspace: it must not start with /.'],
    [/\/$/, 'A path ends in the name of a file: it must not end with /.'],
    [/\/\//, 'A path must not have an empty segment (two slashes in a row).'],
    [/(?:^|\/)\.{1,2}(?:\/|$)/, 'A path must not have a segment "." or "..".'],
];
/** Matches what is forbidden, in words of regular expressions that every language has: for the schema of a path. */
const forbiddenInLockPath = forbidden.map(([{ source }]) => source).join('|');
const drive = /^[a-z]:\//i;
/**
 * What turns the direction of text, and the blank that has no width: with them, a path looks like another one. The joiners
 * U+200C and U+200D are letters to some scripts, and stay.
 */
const misleading = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** A reason with nothing of the path in it: the path stands beside it, escaped by whoever shows it. */
function whyNot(path) {
    if (path === '')
        return 'A path must not be empty.';
    if (bytesIn(path) > maxLockPathBytes)
        return tooLong;
    if (!path.isWellFormed())
        return 'The path is not valid Unicode: it has half of a surrogate pair.';
    const [, why] = forbidden.find(([pattern]) => pattern.test(path)) ?? [];
    return why;
}
/** A character has at least one byte, so the first look is at a number that is there already. */
function compose(text) {
    if (text.length > maxUncomposedBytes || bytesIn(text) > maxUncomposedBytes)
        return (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)(tooLong);
    return (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .accepted */ .q)(text.normalize('NFC'));
}
/**
 * The path of a lock that may be there: one that was taken before misleading characters were refused is still found, and
 * released. Composes the characters (NFC) and repairs nothing else: a path that needs more than that is refused.
 */
function parseHeldPath(text) {
    const composed = compose(text);
    if (!composed.ok)
        return composed;
    const path = composed.value;
    const why = whyNot(path);
    // A brand cannot be computed: this is the one place that gives it, to what has just been examined.
    return why === undefined ? (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .accepted */ .q)(path) : (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)(why);
}
/** A path that can be locked. */
function parseLockPath(text) {
    const path = parseHeldPath(text);
    if (!path.ok || !misleading.test(path.value))
        return path;
    return refused('A path must not have characters that change the direction of text, nor a space without width (U+200B): it would look like another path.');
}
/**
 * What a person writes for a path in a workspace: backslashes count as slashes, and segments that change nothing
 * (`./a`, `a//b`, `a/./b`) are dropped. What names no file of the workspace is refused all the same.
 */
function canonicalLockPath(text, parse = parseLockPath) {
    const segments = text.replaceAll('\\', '/').split('/');
    const last = segments.length - 1;
    // An empty first segment is the root, and what the path ends in decides whether it names a file: both stay.
    const path = segments
        .filter((segment, index) => index === last || (segment !== '.' && (segment !== '' || index === 0)))
        .join('/');
    const composed = compose(path);
    if (!composed.ok)
        return composed;
    // Composed first: that makes letters of some characters that are none, such as the sign for kelvin.
    if (drive.test(composed.value)) {
        return refused('A path is relative to the workspace: it must not start with a drive (C:).');
    }
    return parse(composed.value);
}
/** The path as one segment of a URL: its slashes are encoded too. */
const asOneSegment = (path) => encodeURIComponent(path);
/** The path as several segments of a URL, for servers behind a proxy that does not let an encoded slash through. */
const asSegments = (path) => path.split('/').map(encodeURIComponent).join('/');
/** The path of a lock that a URL addresses, from the part behind `/locks/` exactly as it was sent. */
function lockPathFromUrl(raw) {
    // Encoded, a byte is at most three characters.
    if (raw.length > 3 * maxUncomposedBytes)
        return refused(tooLong);
    let text;
    try {
        text = decodeURIComponent(raw);
    }
    catch {
        return refused('The path is not valid percent-encoded UTF-8.');
    }
    return parseHeldPath(text);
}


/***/ }),

/***/ 296:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   J: () => (/* binding */ refused),
/* harmony export */   q: () => (/* binding */ accepted)
/* harmony export */ });
const accepted = (value) => ({ ok: true, value });
const refused = (why) => ({ ok: false, why });


/***/ }),

/***/ 148:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   E$: () => (/* binding */ redact),
/* harmony export */   Hz: () => (/* binding */ spellingsOf),
/* harmony export */   lY: () => (/* binding */ createRedactor)
/* harmony export */ });
/* unused harmony export redactCut */
/** Encoded, a shorter secret would be found in texts that have nothing to do with it. */
const minEncoded = 8;
const percent = (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
/** RFC 3986 section 2.3, a URI component as JavaScript writes it, and a form; each with either case of its digits. */
function inAddresses(secret) {
    const component = encodeURIComponent(secret.toWellFormed());
    const inForm = new URLSearchParams({ '': secret }).toString().slice(1);
    const all = [component, component.replaceAll(/[!'()*]/g, percent), inForm];
    return [...all, ...all.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase()))];
}
/** With the slashes as PHP writes them, and the signs of HTML as Go does. */
function inJson(secret) {
    const text = JSON.stringify(secret).slice(1, -1);
    const unicode = (character) => `\\u00${character.charCodeAt(0).toString(16)}`;
    return [text, text.replaceAll('/', '\\/'), text.replaceAll(/[<>&]/g, unicode)];
}
const htmlSpelling = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
function inHtml(secret) {
    const text = secret.replaceAll(/[&<>"]/g, (character) => htmlSpelling[character] ?? character);
    return [text, text.replaceAll("'", '&#39;'), text.replaceAll("'", '&apos;')];
}
/** Three bytes are four characters, so it matters where the secret begins; those it shares with others are left out. */
function inBase64(secret) {
    const bytes = Buffer.from(secret);
    const whole = bytes.toString('base64');
    if (bytes.length < minEncoded)
        return whole.length < minEncoded ? [] : [whole];
    const parts = [0, 1, 2].map((before) => {
        const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
        return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
    });
    return [whole, ...parts, ...parts.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}
const inHex = (secret) => {
    const text = Buffer.from(secret).toString('hex');
    return secret.length < minEncoded ? [] : [text, text.toUpperCase()];
};
/** A header in ISO 8859-1 that was then read as UTF-8. */
const asMisread = (secret) => Buffer.from(secret, 'latin1').toString();
const minLine = 4;
/** A log comes line by line, so each line of a secret is one too: as the runner sees it. */
const withItsLines = (secret) => [
    secret,
    ...secret
        .split(/[\r\n]+/)
        .map((line) => line.trim())
        .filter((line) => line.length >= minLine),
];
/**
 * The secrets as they are, and as they stand in JSON, in addresses, in HTML, in Base64 and in hexadecimal digits. Longest
 * first: of two that begin alike, nothing of the longer one is left.
 */
function spellingsOf(secrets, minLength = 1) {
    const all = secrets
        .flatMap(withItsLines)
        .flatMap((text) => [
        text,
        asMisread(text),
        ...inJson(text),
        ...inAddresses(text),
        ...inHtml(text),
        ...inBase64(text),
        ...inHex(text),
    ]);
    return [...new Set(all)].filter(({ length }) => length >= minLength).sort((one, other) => other.length - one.length);
}
/** One after the other: a pattern of all of them can be larger than V8 takes, which then repeats it in its error. */
const redact = (text, spellings) => spellings.reduce((rest, spelling) => rest.replaceAll(spelling, '***'), text);
/** Redacts a text that was cut off: it may end in the beginning of a secret. */
function redactCut(text, spellings) {
    // Nor is half a character left. Only where such a run begins is it looked at: most texts with one go on.
    const whole = redact(text, spellings).replace(/(?<!\ufffd)\ufffd+$/, '');
    const begun = spellings.map((spelling) => begunAtEnd(whole, spelling));
    return whole.slice(0, whole.length - Math.max(0, ...begun));
}
/**
 * How many characters of the beginning of a secret the text ends with. Where one of them does not fit, the longest beginning
 * that ends there is gone on with (Knuth, Morris and Pratt), so that neither text is looked at again and again.
 */
function begunAtEnd(text, secret) {
    const shorter = [0];
    const extend = (length, character) => {
        let begun = length;
        while (begun > 0 && secret[begun] !== character)
            begun = shorter[begun - 1] ?? 0;
        return secret[begun] === character ? begun + 1 : begun;
    };
    for (let index = 1; index < secret.length; index += 1) {
        shorter.push(extend(shorter[index - 1] ?? 0, secret[index]));
    }
    let begun = 0;
    // As long as a whole secret it is not: that one was redacted.
    for (const character of text.slice(-(secret.length - 1)).split(''))
        begun = extend(begun, character);
    return begun;
}
function createRedactor(secrets) {
    const spellings = spellingsOf(secrets);
    return (text) => redact(text, spellings);
}


/***/ })

/******/ });
/************************************************************************/
/******/ // The module cache
/******/ var __webpack_module_cache__ = {};
/******/ 
/******/ // The require function
/******/ function __nccwpck_require__(moduleId) {
/******/ 	// Check if module is in cache
/******/ 	var cachedModule = __webpack_module_cache__[moduleId];
/******/ 	if (cachedModule !== undefined) {
/******/ 		return cachedModule.exports;
/******/ 	}
/******/ 	// Create a new module (and put it into the cache)
/******/ 	var module = __webpack_module_cache__[moduleId] = {
/******/ 		// no module.id needed
/******/ 		// no module.loaded needed
/******/ 		exports: {}
/******/ 	};
/******/ 
/******/ 	// Execute the module function
/******/ 	var threw = true;
/******/ 	try {
/******/ 		__webpack_modules__[moduleId](module, module.exports, __nccwpck_require__);
/******/ 		threw = false;
/******/ 	} finally {
/******/ 		if(threw) delete __webpack_module_cache__[moduleId];
/******/ 	}
/******/ 
/******/ 	// Return the exports of the module
/******/ 	return module.exports;
/******/ }
/******/ 
/******/ // expose the modules object (__webpack_modules__)
/******/ __nccwpck_require__.m = __webpack_modules__;
/******/ 
/************************************************************************/
/******/ /* webpack/runtime/asset-relocator-loader */
/******/ if (typeof __nccwpck_require__ !== 'undefined') __nccwpck_require__.ab = decodeURIComponent(new URL('.', import.meta.url).pathname).slice(import.meta.url.match(/^file:\/\/\/\w:/) ? 1 : 0, -1) + "/";
/******/ 
/******/ /* webpack/runtime/async module */
/******/ (() => {
/******/ 	var webpackQueues = typeof Symbol === "function" ? Symbol("webpack queues") : "__webpack_queues__";
/******/ 	var webpackExports = typeof Symbol === "function" ? Symbol("webpack exports") : "__webpack_exports__";
/******/ 	var webpackError = typeof Symbol === "function" ? Symbol("webpack error") : "__webpack_error__";
/******/ 	var resolveQueue = (queue) => {
/******/ 		if(queue && queue.d < 1) {
/******/ 			queue.d = 1;
/******/ 			queue.forEach((fn) => (fn.r--));
/******/ 			queue.forEach((fn) => (fn.r-- ? fn.r++ : fn()));
/******/ 		}
/******/ 	}
/******/ 	var wrapDeps = (deps) => (deps.map((dep) => {
/******/ 		if(dep !== null && typeof dep === "object") {
/******/ 			if(dep[webpackQueues]) return dep;
/******/ 			if(dep.then) {
/******/ 				var queue = [];
/******/ 				queue.d = 0;
/******/ 				dep.then((r) => {
/******/ 					obj[webpackExports] = r;
/******/ 					resolveQueue(queue);
/******/ 				}, (e) => {
/******/ 					obj[webpackError] = e;
/******/ 					resolveQueue(queue);
/******/ 				});
/******/ 				var obj = {};
/******/ 				obj[webpackQueues] = (fn) => (fn(queue));
/******/ 				return obj;
/******/ 			}
/******/ 		}
/******/ 		var ret = {};
/******/ 		ret[webpackQueues] = x => {};
/******/ 		ret[webpackExports] = dep;
/******/ 		return ret;
/******/ 	}));
/******/ 	__nccwpck_require__.a = (module, body, hasAwait) => {
/******/ 		var queue;
/******/ 		hasAwait && ((queue = []).d = -1);
/******/ 		var depQueues = new Set();
/******/ 		var exports = module.exports;
/******/ 		var currentDeps;
/******/ 		var outerResolve;
/******/ 		var reject;
/******/ 		var promise = new Promise((resolve, rej) => {
/******/ 			reject = rej;
/******/ 			outerResolve = resolve;
/******/ 		});
/******/ 		promise[webpackExports] = exports;
/******/ 		promise[webpackQueues] = (fn) => (queue && fn(queue), depQueues.forEach(fn), promise["catch"](x => {}));
/******/ 		module.exports = promise;
/******/ 		body((deps) => {
/******/ 			currentDeps = wrapDeps(deps);
/******/ 			var fn;
/******/ 			var getResult = () => (currentDeps.map((d) => {
/******/ 				if(d[webpackError]) throw d[webpackError];
/******/ 				return d[webpackExports];
/******/ 			}))
/******/ 			var promise = new Promise((resolve) => {
/******/ 				fn = () => (resolve(getResult));
/******/ 				fn.r = 0;
/******/ 				var fnQueue = (q) => (q !== queue && !depQueues.has(q) && (depQueues.add(q), q && !q.d && (fn.r++, q.push(fn))));
/******/ 				currentDeps.map((dep) => (dep[webpackQueues](fnQueue)));
/******/ 			});
/******/ 			return fn.r ? promise : getResult();
/******/ 		}, (err) => ((err ? reject(promise[webpackError] = err) : outerResolve(exports)), resolveQueue(queue)));
/******/ 		queue && queue.d < 0 && (queue.d = 0);
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/create fake namespace object */
/******/ (() => {
/******/ 	var getProto = Object.getPrototypeOf ? (obj) => (Object.getPrototypeOf(obj)) : (obj) => (obj.__proto__);
/******/ 	var leafPrototypes;
/******/ 	// create a fake namespace object
/******/ 	// mode & 1: value is a module id, require it
/******/ 	// mode & 2: merge all properties of value into the ns
/******/ 	// mode & 4: return value when already ns object
/******/ 	// mode & 16: return value when it's Promise-like
/******/ 	// mode & 8|1: behave like require
/******/ 	__nccwpck_require__.t = function(value, mode) {
/******/ 		if(mode & 1) value = this(value);
/******/ 		if(mode & 8) return value;
/******/ 		if(typeof value === 'object' && value) {
/******/ 			if((mode & 4) && value.__esModule) return value;
/******/ 			if((mode & 16) && typeof value.then === 'function') return value;
/******/ 		}
/******/ 		var ns = Object.create(null);
/******/ 		__nccwpck_require__.r(ns);
/******/ 		var def = {};
/******/ 		leafPrototypes = leafPrototypes || [null, getProto({}), getProto([]), getProto(getProto)];
/******/ 		for(var current = mode & 2 && value; typeof current == 'object' && !~leafPrototypes.indexOf(current); current = getProto(current)) {
/******/ 			Object.getOwnPropertyNames(current).forEach((key) => (def[key] = () => (value[key])));
/******/ 		}
/******/ 		def['default'] = () => (value);
/******/ 		__nccwpck_require__.d(ns, def);
/******/ 		return ns;
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/define property getters */
/******/ (() => {
/******/ 	// define getter functions for harmony exports
/******/ 	__nccwpck_require__.d = (exports, definition) => {
/******/ 		for(var key in definition) {
/******/ 			if(__nccwpck_require__.o(definition, key) && !__nccwpck_require__.o(exports, key)) {
/******/ 				Object.defineProperty(exports, key, { enumerable: true, get: definition[key] });
/******/ 			}
/******/ 		}
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/ensure chunk */
/******/ (() => {
/******/ 	__nccwpck_require__.f = {};
/******/ 	// This file contains only the entry chunk.
/******/ 	// The chunk loading function for additional chunks
/******/ 	__nccwpck_require__.e = (chunkId) => {
/******/ 		return Promise.all(Object.keys(__nccwpck_require__.f).reduce((promises, key) => {
/******/ 			__nccwpck_require__.f[key](chunkId, promises);
/******/ 			return promises;
/******/ 		}, []));
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/get javascript chunk filename */
/******/ (() => {
/******/ 	// This function allow to reference async chunks
/******/ 	__nccwpck_require__.u = (chunkId) => {
/******/ 		// return url for filenames based on template
/******/ 		return "" + chunkId + ".index.js";
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/hasOwnProperty shorthand */
/******/ (() => {
/******/ 	__nccwpck_require__.o = (obj, prop) => (Object.prototype.hasOwnProperty.call(obj, prop))
/******/ })();
/******/ 
/******/ /* webpack/runtime/make namespace object */
/******/ (() => {
/******/ 	// define __esModule on exports
/******/ 	__nccwpck_require__.r = (exports) => {
/******/ 		if(typeof Symbol !== 'undefined' && Symbol.toStringTag) {
/******/ 			Object.defineProperty(exports, Symbol.toStringTag, { value: 'Module' });
/******/ 		}
/******/ 		Object.defineProperty(exports, '__esModule', { value: true });
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/import chunk loading */
/******/ (() => {
/******/ 	// no baseURI
/******/ 	
/******/ 	// object to store loaded and loading chunks
/******/ 	// undefined = chunk not loaded, null = chunk preloaded/prefetched
/******/ 	// [resolve, Promise] = chunk loading, 0 = chunk loaded
/******/ 	var installedChunks = {
/******/ 		792: 0
/******/ 	};
/******/ 	
/******/ 	var installChunk = (data) => {
/******/ 		var {ids, modules, runtime} = data;
/******/ 		// add "modules" to the modules object,
/******/ 		// then flag all "ids" as loaded and fire callback
/******/ 		var moduleId, chunkId, i = 0;
/******/ 		for(moduleId in modules) {
/******/ 			if(__nccwpck_require__.o(modules, moduleId)) {
/******/ 				__nccwpck_require__.m[moduleId] = modules[moduleId];
/******/ 			}
/******/ 		}
/******/ 		if(runtime) runtime(__nccwpck_require__);
/******/ 		for(;i < ids.length; i++) {
/******/ 			chunkId = ids[i];
/******/ 			if(__nccwpck_require__.o(installedChunks, chunkId) && installedChunks[chunkId]) {
/******/ 				installedChunks[chunkId][0]();
/******/ 			}
/******/ 			installedChunks[ids[i]] = 0;
/******/ 		}
/******/ 	
/******/ 	}
/******/ 	
/******/ 	__nccwpck_require__.f.j = (chunkId, promises) => {
/******/ 			// import() chunk loading for javascript
/******/ 			var installedChunkData = __nccwpck_require__.o(installedChunks, chunkId) ? installedChunks[chunkId] : undefined;
/******/ 			if(installedChunkData !== 0) { // 0 means "already installed".
/******/ 	
/******/ 				// a Promise means "currently loading".
/******/ 				if(installedChunkData) {
/******/ 					promises.push(installedChunkData[1]);
/******/ 				} else {
/******/ 					if(true) { // all chunks have JS
/******/ 						// setup Promise in chunk cache
/******/ 						var promise = import("./" + __nccwpck_require__.u(chunkId)).then(installChunk, (e) => {
/******/ 							if(installedChunks[chunkId] !== 0) installedChunks[chunkId] = undefined;
/******/ 							throw e;
/******/ 						});
/******/ 						var promise = Promise.race([promise, new Promise((resolve) => (installedChunkData = installedChunks[chunkId] = [resolve]))])
/******/ 						promises.push(installedChunkData[1] = promise);
/******/ 					}
/******/ 				}
/******/ 			}
/******/ 	};
/******/ 	
/******/ 	// no prefetching
/******/ 	
/******/ 	// no preloaded
/******/ 	
/******/ 	// no external install chunk
/******/ 	
/******/ 	// no on chunks loaded
/******/ })();
/******/ 
/************************************************************************/
/******/ 
/******/ // startup
/******/ // Load entry module and return exports
/******/ // This entry module used 'module' so it can't be inlined
/******/ var __webpack_exports__ = __nccwpck_require__(956);
/******/ __webpack_exports__ = await __webpack_exports__;
/******/ 
