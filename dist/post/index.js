import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";
/******/ var __webpack_modules__ = ({

/***/ 434:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("events");

/***/ }),

/***/ 896:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("fs");

/***/ }),

/***/ 611:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("http");

/***/ }),

/***/ 692:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("https");

/***/ }),

/***/ 278:
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

/***/ 857:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("os");

/***/ }),

/***/ 756:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("tls");

/***/ }),

/***/ 23:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("util");

/***/ }),

/***/ 21:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  Mn: () => (/* binding */ lines),
  Q2: () => (/* binding */ parseBaseUrl),
  yG: () => (/* binding */ parseBoolean),
  GE: () => (/* binding */ parseDurationBetween),
  "in": () => (/* binding */ parseHandoff),
  qE: () => (/* binding */ parseHookUrl),
  dw: () => (/* binding */ parseJsonObject),
  mA: () => (/* binding */ parseLossReaction),
  t4: () => (/* binding */ parsePathLine),
  r4: () => (/* binding */ parseText),
  pI: () => (/* binding */ parseToken),
  oA: () => (/* binding */ parseWholeNumber),
  Vs: () => (/* binding */ parseWorkspace),
  aL: () => (/* binding */ words)
});

// UNUSED EXPORTS: parseOneOf

// EXTERNAL MODULE: ./build/bundle/compiled/client/json.js
var client_json = __nccwpck_require__(395);
// EXTERNAL MODULE: ./build/bundle/compiled/client/workspace-id.js
var workspace_id = __nccwpck_require__(228);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/duration.js
var interface_duration = __nccwpck_require__(393);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/lock-path.js
var lock_path = __nccwpck_require__(860);
;// CONCATENATED MODULE: ./build/bundle/compiled/interface/loopback.js
const loopback = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/;
function isLoopback(host) {
    const url = URL.parse(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`);
    return url !== null && loopback.test(url.hostname);
}

// EXTERNAL MODULE: ./build/bundle/compiled/interface/parsed.js
var parsed = __nccwpck_require__(296);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/inputs/parse.js






const lines = (text) => text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
const words = (text) => text
    .split(/[\n,]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
const parseOneOf = (allowed) => (text) => {
    const found = allowed.find((each) => each === text);
    return found === undefined ? (0,parsed/* refused */.J)(`It has to be one of ${allowed.join(', ')}.`) : (0,parsed/* accepted */.q)(found);
};
function parseBoolean(text) {
    if (/^(?:true|True|TRUE)$/.test(text))
        return (0,parsed/* accepted */.q)(true);
    if (/^(?:false|False|FALSE)$/.test(text))
        return (0,parsed/* accepted */.q)(false);
    return (0,parsed/* refused */.J)('It has to be true or false.');
}
const parseLossReaction = parseOneOf(['fail', 'warn']);
const parseWholeNumber = (max) => (text) => {
    const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    return number <= max ? (0,parsed/* accepted */.q)(number) : (0,parsed/* refused */.J)(`It has to be a whole number from 0 to ${max}.`);
};
const parseDurationBetween = (min, max) => (text) => {
    const duration = (0,interface_duration/* parseDuration */.E9)(text);
    if (!duration.ok)
        return duration;
    return duration.value.seconds >= min.seconds && duration.value.seconds <= max.seconds
        ? duration
        : (0,parsed/* refused */.J)(`It has to be from ${(0,interface_duration/* formatDuration */.a3)(min)} to ${(0,interface_duration/* formatDuration */.a3)(max)}.`);
};
const parseText = (why) => (text) => text === '' || /\p{Cc}/u.test(text) ? (0,parsed/* refused */.J)(why) : (0,parsed/* accepted */.q)(text);
const parseToken = (why) => (text) => /^[\x21-\x7e]+$/.test(text) ? (0,parsed/* accepted */.q)(text) : (0,parsed/* refused */.J)(why);
function parseJsonObject(text) {
    const json = (0,client_json/* parseJson */.qF)(text, (each) => each);
    if (json.ok && (0,client_json/* isObject */.Gv)(json.value))
        return (0,parsed/* accepted */.q)(json.value);
    return (0,parsed/* refused */.J)('It has to be a JSON object, such as {"format": "github"}.');
}
function parseWorkspace(text) {
    const workspace = (0,workspace_id/* parseWorkspaceId */.m)(text);
    return workspace.ok ? workspace : (0,parsed/* refused */.J)(`${workspace.why} \`operation: list-workspaces\` lists the ids there are.`);
}
const parseHookUrl = (text) => URL.canParse(text) && /^https?:/i.test(text) ? (0,parsed/* accepted */.q)(text) : (0,parsed/* refused */.J)('It has to be an https address.');
function parseBaseUrl(text, allowHttp) {
    const url = URL.parse(text);
    if (url === null)
        return (0,parsed/* refused */.J)('It has to be an address such as https://workspaces.example.com/v1.');
    if (url.username !== '' || url.password !== '') {
        return (0,parsed/* refused */.J)('It must not contain a user name or a password: the token is sent in a header.');
    }
    if (text.includes('?') || text.includes('#'))
        return (0,parsed/* refused */.J)('It must not have a query or a fragment.');
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
        return (0,parsed/* refused */.J)('It has to begin with https://.');
    if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
        return (0,parsed/* refused */.J)('Plain http would expose the token to everyone on the way. Use https, or set `allow-http: true` on a network that is yours alone.');
    }
    const address = url.href.replace(/(?<!\/)\/+$/, '');
    if (!address.endsWith('/v1'))
        return (0,parsed/* refused */.J)('It has to end in /v1, the version of the interface.');
    return (0,parsed/* accepted */.q)(address);
}
const looksLikePattern = (line) => line.startsWith('!') || /[*?[\]{}]/.test(line);
function parsePathLine(line, glob) {
    if (glob && looksLikePattern(line))
        return (0,parsed/* accepted */.q)({ kind: 'pattern', text: line });
    const path = (0,lock_path/* canonicalLockPath */.zV)(line);
    return path.ok ? (0,parsed/* accepted */.q)({ kind: 'path', path: path.value }) : (0,parsed/* refused */.J)(path.why);
}
const textOf = (value) => (typeof value === 'string' && value !== '' ? value : undefined);
function readHandoffLock(entry) {
    if (typeof entry !== 'object' || entry === null)
        return undefined;
    const fields = entry;
    const path = (0,lock_path/* canonicalLockPath */.zV)(textOf(fields['path']) ?? '', lock_path/* parseHeldPath */.yo);
    if (!path.ok)
        return undefined;
    return {
        path: path.value,
        id: textOf(fields['id']),
        etag: textOf(fields['etag']),
        owner: textOf(fields['owner']),
        acquired_at: textOf(fields['acquired_at']),
        expires_at: textOf(fields['expires_at']),
    };
}
function parseHandoff(json) {
    let entries;
    try {
        entries = JSON.parse(json);
    }
    catch {
        return (0,parsed/* refused */.J)('It is not JSON. Pass the output `locks` of a lock step unchanged.');
    }
    if (!Array.isArray(entries)) {
        return (0,parsed/* refused */.J)('It is not a JSON list. Pass the output `locks` of a lock step unchanged.');
    }
    const locks = [];
    for (const [index, entry] of entries.entries()) {
        const lock = readHandoffLock(entry);
        if (lock === undefined)
            return (0,parsed/* refused */.J)(`Entry ${index + 1} is not a lock: it has no valid path.`);
        locks.push(lock);
    }
    return (0,parsed/* accepted */.q)(locks);
}


/***/ }),

/***/ 332:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   VY: () => (/* binding */ secretsIn),
/* harmony export */   yI: () => (/* binding */ readRawInputs)
/* harmony export */ });
/* unused harmony exports operations, inputTable, inputNames, unusedInputs */
/* harmony import */ var _parse_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(21);

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
const inputNames = Object.keys(inputTable);
const row = (name) => inputTable[name];
function readRawInputs(getInput, environment) {
    const read = (name) => {
        const { variable = '', fallback } = row(name);
        return getInput(name) || (environment[variable] ?? '').trim() || fallback;
    };
    return Object.fromEntries(inputNames.map((name) => [name, read(name)]));
}
const isUsedBy = (name, operation) => {
    const { usedBy } = row(name);
    return usedBy === 'all' || usedBy.includes(operation);
};
const unusedInputs = (getInput, operation) => inputNames.filter((name) => {
    const text = getInput(name);
    if (name === 'github-token' || text === '' || text === row(name).fallback)
        return false;
    return !isUsedBy(name, operation);
});
const minSecretLength = 4;
function textsIn(value) {
    if (typeof value === 'string')
        return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
function secretsInOptions(text) {
    const options = (0,_parse_js__WEBPACK_IMPORTED_MODULE_0__/* .parseJsonObject */ .dw)(text);
    return options.ok ? [...textsIn(options.value['secret']), ...textsIn(options.value['headers'])] : [];
}
function secretsIn(raw) {
    const known = [raw.token, raw['hook-secret'], raw['github-token'], ...secretsInOptions(raw['hook-options'])];
    return [...new Set(known)].filter((secret) => secret.length >= minSecretLength);
}


/***/ }),

/***/ 776:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   CZ: () => (/* binding */ ofKind),
/* harmony export */   f2: () => (/* binding */ byPath),
/* harmony export */   gr: () => (/* binding */ outputNames)
/* harmony export */ });
/* unused harmony exports succeeded, failed, InputError */
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
    annotations: [],
});
const failed = (outputs, why, ...tables) => ({
    outputs,
    sentence: why,
    tables,
    failures: [why],
    annotations: [],
});
const ofKind = (results, kind) => results.filter((result) => result.kind === kind);
const byPath = (one, other) => one.path < other.path ? -1 : 1;
class InputError extends Error {
    name = 'InputError';
    problems;
    constructor(problems) {
        super(problems.join(' '));
        this.problems = problems;
    }
}


/***/ }),

/***/ 956:
/***/ ((__webpack_module__, __unused_webpack___webpack_exports__, __nccwpck_require__) => {

__nccwpck_require__.a(__webpack_module__, async (__webpack_handle_async_dependencies__, __webpack_async_result__) => { try {
/* harmony import */ var _actions_core__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(950);
/* harmony import */ var _interface_redact_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(148);
/* harmony import */ var _inputs_table_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(332);
/* harmony import */ var _report_reporter_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(465);




async function post() {
    const step = _actions_core__WEBPACK_IMPORTED_MODULE_3__/* .getState */ .Gu('step');
    if (step === '')
        return;
    const raw = (0,_inputs_table_js__WEBPACK_IMPORTED_MODULE_1__/* .readRawInputs */ .yI)(_actions_core__WEBPACK_IMPORTED_MODULE_3__/* .getInput */ .V4, process.env);
    const secrets = (0,_inputs_table_js__WEBPACK_IMPORTED_MODULE_1__/* .secretsIn */ .VY)(raw);
    const redact = (0,_interface_redact_js__WEBPACK_IMPORTED_MODULE_0__/* .createRedactor */ .lY)(secrets);
    const reporter = (0,_report_reporter_js__WEBPACK_IMPORTED_MODULE_2__/* .createReporter */ .A)(secrets, redact);
    try {
        const { releaseStep } = await __nccwpck_require__.e(/* import() */ 524).then(__nccwpck_require__.bind(__nccwpck_require__, 524));
        await releaseStep({ step, state: _actions_core__WEBPACK_IMPORTED_MODULE_3__/* .getState */ .Gu, raw, redact, reporter });
    }
    catch (error) {
        reporter.log.warn(`The locks of this step could not be released, and stay until their ttl ends: ${error instanceof Error ? error.message : String(error)}`);
    }
}
await post();

__webpack_async_result__();
} catch(e) { __webpack_async_result__(e); } }, 1);

/***/ }),

/***/ 465:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  A: () => (/* binding */ createReporter)
});

// EXTERNAL MODULE: ./build/bundle/node_modules/@actions/core/lib/core.js + 5 modules
var core = __nccwpck_require__(950);
// EXTERNAL MODULE: external "os"
var external_os_ = __nccwpck_require__(857);
// EXTERNAL MODULE: external "fs"
var external_fs_ = __nccwpck_require__(896);
var external_fs_namespaceObject = /*#__PURE__*/__nccwpck_require__.t(external_fs_, 2);
;// CONCATENATED MODULE: ./build/bundle/node_modules/@actions/core/lib/summary.js
var __awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};


const { constants } = external_fs_namespaceObject;
const { accessSync: access, appendFileSync: appendFile, writeFileSync: writeFile } = external_fs_namespaceObject;
const SUMMARY_ENV_VAR = 'GITHUB_STEP_SUMMARY';
const SUMMARY_DOCS_URL = 'https://docs.github.com/actions/using-workflows/workflow-commands-for-github-actions#adding-a-job-summary';
class Summary {
    constructor() {
        this._buffer = '';
    }
    /**
     * Finds the summary file path from the environment, rejects if env var is not found or file does not exist
     * Also checks r/w permissions.
     *
     * @returns step summary file path
     */
    filePath() {
        return __awaiter(this, void 0, void 0, function* () {
            if (this._filePath) {
                return this._filePath;
            }
            const pathFromEnv = process.env[SUMMARY_ENV_VAR];
            if (!pathFromEnv) {
                throw new Error(`Unable to find environment variable for $${SUMMARY_ENV_VAR}. Check if your runtime environment supports job summaries.`);
            }
            try {
                yield access(pathFromEnv, constants.R_OK | constants.W_OK);
            }
            catch (_a) {
                throw new Error(`Unable to access summary file: '${pathFromEnv}'. Check if the file has correct read/write permissions.`);
            }
            this._filePath = pathFromEnv;
            return this._filePath;
        });
    }
    /**
     * Wraps content in an HTML tag, adding any HTML attributes
     *
     * @param {string} tag HTML tag to wrap
     * @param {string | null} content content within the tag
     * @param {[attribute: string]: string} attrs key-value list of HTML attributes to add
     *
     * @returns {string} content wrapped in HTML element
     */
    wrap(tag, content, attrs = {}) {
        const htmlAttrs = Object.entries(attrs)
            .map(([key, value]) => ` ${key}="${value}"`)
            .join('');
        if (!content) {
            return `<${tag}${htmlAttrs}>`;
        }
        return `<${tag}${htmlAttrs}>${content}</${tag}>`;
    }
    /**
     * Writes text in the buffer to the summary buffer file and empties buffer. Will append by default.
     *
     * @param {SummaryWriteOptions} [options] (optional) options for write operation
     *
     * @returns {Promise<Summary>} summary instance
     */
    write(options) {
        return __awaiter(this, void 0, void 0, function* () {
            const overwrite = !!(options === null || options === void 0 ? void 0 : options.overwrite);
            const filePath = yield this.filePath();
            const writeFunc = overwrite ? writeFile : appendFile;
            yield writeFunc(filePath, this._buffer, { encoding: 'utf8' });
            return this.emptyBuffer();
        });
    }
    /**
     * Clears the summary buffer and wipes the summary file
     *
     * @returns {Summary} summary instance
     */
    clear() {
        return __awaiter(this, void 0, void 0, function* () {
            return this.emptyBuffer().write({ overwrite: true });
        });
    }
    /**
     * Returns the current summary buffer as a string
     *
     * @returns {string} string of summary buffer
     */
    stringify() {
        return this._buffer;
    }
    /**
     * If the summary buffer is empty
     *
     * @returns {boolen} true if the buffer is empty
     */
    isEmptyBuffer() {
        return this._buffer.length === 0;
    }
    /**
     * Resets the summary buffer without writing to summary file
     *
     * @returns {Summary} summary instance
     */
    emptyBuffer() {
        this._buffer = '';
        return this;
    }
    /**
     * Adds raw text to the summary buffer
     *
     * @param {string} text content to add
     * @param {boolean} [addEOL=false] (optional) append an EOL to the raw text (default: false)
     *
     * @returns {Summary} summary instance
     */
    addRaw(text, addEOL = false) {
        this._buffer += text;
        return addEOL ? this.addEOL() : this;
    }
    /**
     * Adds the operating system-specific end-of-line marker to the buffer
     *
     * @returns {Summary} summary instance
     */
    addEOL() {
        return this.addRaw(external_os_.EOL);
    }
    /**
     * Adds an HTML codeblock to the summary buffer
     *
     * @param {string} code content to render within fenced code block
     * @param {string} lang (optional) language to syntax highlight code
     *
     * @returns {Summary} summary instance
     */
    addCodeBlock(code, lang) {
        const attrs = Object.assign({}, (lang && { lang }));
        const element = this.wrap('pre', this.wrap('code', code), attrs);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML list to the summary buffer
     *
     * @param {string[]} items list of items to render
     * @param {boolean} [ordered=false] (optional) if the rendered list should be ordered or not (default: false)
     *
     * @returns {Summary} summary instance
     */
    addList(items, ordered = false) {
        const tag = ordered ? 'ol' : 'ul';
        const listItems = items.map(item => this.wrap('li', item)).join('');
        const element = this.wrap(tag, listItems);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML table to the summary buffer
     *
     * @param {SummaryTableCell[]} rows table rows
     *
     * @returns {Summary} summary instance
     */
    addTable(rows) {
        const tableBody = rows
            .map(row => {
            const cells = row
                .map(cell => {
                if (typeof cell === 'string') {
                    return this.wrap('td', cell);
                }
                const { header, data, colspan, rowspan } = cell;
                const tag = header ? 'th' : 'td';
                const attrs = Object.assign(Object.assign({}, (colspan && { colspan })), (rowspan && { rowspan }));
                return this.wrap(tag, data, attrs);
            })
                .join('');
            return this.wrap('tr', cells);
        })
            .join('');
        const element = this.wrap('table', tableBody);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds a collapsable HTML details element to the summary buffer
     *
     * @param {string} label text for the closed state
     * @param {string} content collapsable content
     *
     * @returns {Summary} summary instance
     */
    addDetails(label, content) {
        const element = this.wrap('details', this.wrap('summary', label) + content);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML image tag to the summary buffer
     *
     * @param {string} src path to the image you to embed
     * @param {string} alt text description of the image
     * @param {SummaryImageOptions} options (optional) addition image attributes
     *
     * @returns {Summary} summary instance
     */
    addImage(src, alt, options) {
        const { width, height } = options || {};
        const attrs = Object.assign(Object.assign({}, (width && { width })), (height && { height }));
        const element = this.wrap('img', null, Object.assign({ src, alt }, attrs));
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML section heading element
     *
     * @param {string} text heading text
     * @param {number | string} [level=1] (optional) the heading level, default: 1
     *
     * @returns {Summary} summary instance
     */
    addHeading(text, level) {
        const tag = `h${level}`;
        const allowedTag = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].includes(tag)
            ? tag
            : 'h1';
        const element = this.wrap(allowedTag, text);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML thematic break (<hr>) to the summary buffer
     *
     * @returns {Summary} summary instance
     */
    addSeparator() {
        const element = this.wrap('hr', null);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML line break (<br>) to the summary buffer
     *
     * @returns {Summary} summary instance
     */
    addBreak() {
        const element = this.wrap('br', null);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML blockquote to the summary buffer
     *
     * @param {string} text quote text
     * @param {string} cite (optional) citation url
     *
     * @returns {Summary} summary instance
     */
    addQuote(text, cite) {
        const attrs = Object.assign({}, (cite && { cite }));
        const element = this.wrap('blockquote', text, attrs);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML anchor tag to the summary buffer
     *
     * @param {string} text link text/content
     * @param {string} href hyperlink
     *
     * @returns {Summary} summary instance
     */
    addLink(text, href) {
        const element = this.wrap('a', text, { href });
        return this.addRaw(element).addEOL();
    }
}
const _summary = new Summary();
/**
 * @deprecated use `core.summary`
 */
const markdownSummary = (/* unused pure expression or super */ null && (_summary));
const summary = _summary;
//# sourceMappingURL=summary.js.map
// EXTERNAL MODULE: ./build/bundle/compiled/action/outcome.js
var outcome = __nccwpck_require__(776);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/report/redact.js
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;
const codeOf = (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
const oneLine = (text) => text
    .replace(unprintable, codeOf)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\[)/g, '# #');
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
const inHtml = (text) => oneLine(text).replace(/[&<>"'@#:]/g, (character) => htmlSpelling[character] ?? character);
function redactValue(value, redact) {
    if (typeof value === 'string')
        return redact(value);
    if (Array.isArray(value))
        return value.map((each) => redactValue(each, redact));
    if (typeof value !== 'object' || value === null)
        return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [redact(name), redactValue(member, redact)]));
}
const redactedJson = (value, redact) => JSON.stringify(redactValue(value, redact));

// EXTERNAL MODULE: ./build/bundle/compiled/action/report/words.js
var words = __nccwpck_require__(46);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/report/summary.js


const maxBytes = 900 * 1_024;
const maxSentenceLength = 4_000;
const cut = (text) => (text.length > maxSentenceLength ? `${text.slice(0, maxSentenceLength)}…` : text);
const bytes = (text) => Buffer.byteLength(text);
const cells = (tag, row, redact) => `<tr>${row.map((cell) => `<${tag}>${inHtml(redact(cell))}</${tag}>`).join('')}</tr>\n`;
function tableHtml({ head, rows }, room, redact) {
    const begin = `<table>\n${cells('th', head, redact)}`;
    const end = '</table>\n';
    let left = room - bytes(begin) - bytes(end) - 100;
    const shown = [];
    for (const row of rows) {
        const html = cells('td', row, redact);
        left -= bytes(html);
        if (left < 0)
            break;
        shown.push(html);
    }
    const more = rows.length - shown.length;
    const rest = more === 0 ? '' : `<p>And ${(0,words/* grouped */.zD)(more)} more.</p>\n`;
    return `${begin}${shown.join('')}${end}${rest}`;
}
function summaryHtml(title, sentence, tables, redact) {
    let html = `<h3>${inHtml(title)}</h3>\n<p>${inHtml(cut(redact(sentence)))}</p>\n`;
    for (const table of tables) {
        if (table.rows.length > 0)
            html += tableHtml(table, maxBytes - bytes(html), redact);
    }
    return `${html}\n`;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/report/reporter.js





const maxOutputBytes = 100_000;
const maxGroupLines = 100;
const maxAnnotations = 10;
const maxWarnings = 4;
function createReporter(secrets, redact) {
    for (const secret of secrets)
        core/* setSecret */.Pq(secret);
    const clean = (text) => oneLine(redact(text));
    let warnings = 0;
    const leftEmpty = new Set();
    function warn(text) {
        warnings += 1;
        if (warnings < maxWarnings)
            core/* warning */.$e(clean(text));
        else
            core/* info */.pq(clean(`Warning: ${text}`));
    }
    function group(title, lines) {
        if (lines.length === 0) {
            core/* info */.pq(clean(title));
            return;
        }
        core/* startGroup */.Oh(clean(title));
        for (const line of lines.slice(0, maxGroupLines))
            core/* info */.pq(`  ${clean(line)}`);
        if (lines.length > maxGroupLines)
            core/* info */.pq(`  And ${(0,words/* count */.U9)(lines.length - maxGroupLines, 'more', 'more')}.`);
        core/* endGroup */.N4();
    }
    function setOutputs(outputs) {
        for (const name of outcome/* outputNames */.gr) {
            const value = outputs[name];
            if (value === undefined)
                continue;
            const text = redact(value);
            if (Buffer.byteLength(text) <= maxOutputBytes) {
                core/* setOutput */.uH(name, text);
                continue;
            }
            core/* setOutput */.uH(name, '');
            if (leftEmpty.has(name))
                continue;
            leftEmpty.add(name);
            const instead = name === 'locks' && outputs.locks_file !== undefined ? ' Use the output `locks_file` instead.' : '';
            warn(`The output \`${name}\` is too large for a step and has been left empty.${instead}`);
        }
    }
    function annotate({ text, title, file }) {
        core/* error */.z3(clean(text), {
            ...(title !== undefined && { title: clean(title) }),
            ...(file !== undefined && { file: clean(file) }),
        });
    }
    function annotateFailures(failures, onFiles) {
        const all = [...failures.map((text) => ({ text })), ...onFiles];
        const places = maxAnnotations - Math.min(warnings, maxWarnings);
        const shown = all.length <= places ? all : all.slice(0, places - 1);
        const others = all.slice(shown.length);
        if (others.length > 0) {
            group(`${(0,words/* count */.U9)(others.length, 'more error')}:`, others.map(({ text }) => text));
        }
        const hiddenWarnings = warnings - (maxWarnings - 1);
        if (hiddenWarnings > 0)
            core/* warning */.$e(`And ${(0,words/* count */.U9)(hiddenWarnings, 'more warning')}: see the log of the step.`);
        for (const annotation of shown)
            annotate(annotation);
        if (others.length > 0) {
            annotate({ text: `And ${(0,words/* count */.U9)(others.length, 'more of these', 'more of these')}: see the log of the step.` });
        }
        if (failures.length > 0)
            process.exitCode = core/* ExitCode */.yU.Failure;
    }
    async function summarise(title, sentence, tables, chart = '') {
        if (!process.env['GITHUB_STEP_SUMMARY'])
            return;
        try {
            await summary.addRaw(summaryHtml(title, sentence, tables, redact) + chart).write();
        }
        catch (error) {
            warn(`The job summary could not be written: ${error instanceof Error ? error.message : String(error)}`);
        }
    }
    return {
        log: {
            line: (text) => core/* info */.pq(clean(text)),
            warn,
            debug: (text) => core/* debug */.Yz(clean(text)),
            group,
        },
        setOutputs,
        refuse: (problems) => annotateFailures(problems, []),
        async finish(title, { outputs, sentence, tables, failures, annotations }, withSummary) {
            setOutputs(outputs);
            if (withSummary)
                await summarise(title, sentence, tables);
            annotateFailures(failures, failures.length > 0 ? annotations : []);
        },
        async finishRelease({ sentence, table, chart, failures, warnings: cautions, lines }, withSummary) {
            group(sentence, lines);
            for (const text of cautions)
                warn(text);
            if (withSummary)
                await summarise('Workspace: locks at the end of the job', sentence, [table], chart);
            annotateFailures(failures, []);
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
/* unused harmony exports listed, distance */
/* harmony import */ var _interface_duration_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(393);

const grouped = (number) => String(number).replace(/(?<!\.\d*)\d(?=(?:\d{3})+(?!\d))/g, '$&,');
const count = (number, one, many = `${one}s`) => `${grouped(number)} ${number === 1 ? one : many}`;
function listed(texts, max = 5) {
    const more = texts.length - max;
    return texts.slice(0, max).join(', ') + (more > 0 ? ` and ${count(more, 'more', 'more')}` : '');
}
const duration = (milliseconds) => milliseconds < 10_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : (0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .span */ .Ln)(milliseconds / 1_000);
function distance(time, now) {
    const seconds = (time - now) / 1_000;
    return seconds >= 0 ? `in ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .span */ .Ln)(seconds)}` : `${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .span */ .Ln)(-seconds)} ago`;
}
function clockTime(time, now) {
    const iso = new Date(time).toISOString();
    const clock = `${iso.slice(11, 16)} UTC`;
    return iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? clock : `${iso.slice(0, 10)} ${clock}`;
}
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
    return Object.fromEntries(Object.entries(Object(value)).map(([name, member]) => [onText(name), copy(member, onText, depth + 1)]));
}
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
function firstMember(object, names) {
    const name = names.find((candidate) => Object.hasOwn(object, candidate) && object[candidate] !== null);
    return name === undefined ? undefined : object[name];
}
function nameIn(json) {
    if (typeof json === 'string')
        return json === '' ? undefined : json;
    return typeof json === 'number' && Number.isSafeInteger(json) ? String(json) : undefined;
}
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
/* unused harmony exports durationPattern, durationUpTo */
/* harmony import */ var _parsed_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(296);

const secondsIn = { s: 1, m: 60, h: 3_600, d: 86_400 };
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
function formatDuration({ seconds }) {
    for (const unit of ['d', 'h', 'm']) {
        if (seconds > 0 && seconds % secondsIn[unit] === 0)
            return `${seconds / secondsIn[unit]}${unit}`;
    }
    return `${seconds}s`;
}
const milliseconds = ({ seconds }) => seconds * 1_000;
const durationUpTo = (max, named) => (text) => {
    const duration = parseDuration(text);
    if (!duration.ok)
        return duration;
    return duration.value.seconds >= 1 && duration.value.seconds <= max.seconds
        ? duration
        : refused(`It must be from 1s to ${named}.`);
};
function span(seconds) {
    const { m: minute, h: hour, d: day } = secondsIn;
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
const spanOfMs = (ms) => (ms < 1_000 ? `${Math.ceil(ms)} ms` : span(Math.ceil(ms / 1_000)));


/***/ }),

/***/ 860:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   IH: () => (/* binding */ asOneSegment),
/* harmony export */   ne: () => (/* binding */ asSegments),
/* harmony export */   yo: () => (/* binding */ parseHeldPath),
/* harmony export */   zV: () => (/* binding */ canonicalLockPath)
/* harmony export */ });
/* unused harmony exports maxLockPathBytes, forbiddenInLockPath, misleading, parseLockPath, lockPathFromUrl */
/* harmony import */ var _parsed_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(296);

const maxLockPathBytes = 1_024;
const maxUncomposedBytes = 4 * maxLockPathBytes;
const tooLong = `A path must not be longer than ${maxLockPathBytes} bytes.`;
const bytesIn = (text) => new TextEncoder().encode(text).length;
const forbidden = [
    [/[\x00-\x1f\x7f-\x9f]/, 'A path must not have control characters.'],
    [/\\/, 'A path is written with /, not with a backslash.'],
    [/^\//, 'A path is relative to the workspace: it must not start with /.'],
    [/\/$/, 'A path ends in the name of a file: it must not end with /.'],
    [/\/\//, 'A path must not have an empty segment (two slashes in a row).'],
    [/(?:^|\/)\.{1,2}(?:\/|$)/, 'A path must not have a segment "." or "..".'],
];
const forbiddenInLockPath = forbidden.map(([{ source }]) => source).join('|');
const drive = /^[a-z]:\//i;
const misleading = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
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
function compose(text) {
    if (text.length > maxUncomposedBytes || bytesIn(text) > maxUncomposedBytes)
        return (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)(tooLong);
    return (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .accepted */ .q)(text.normalize('NFC'));
}
function parseHeldPath(text) {
    const composed = compose(text);
    if (!composed.ok)
        return composed;
    const path = composed.value;
    const why = whyNot(path);
    return why === undefined ? (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .accepted */ .q)(path) : (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)(why);
}
function parseLockPath(text) {
    const path = parseHeldPath(text);
    if (!path.ok || !misleading.test(path.value))
        return path;
    return (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)('A path must not have characters that change the direction of text, nor a space without width (U+200B): it would look like another path.');
}
function canonicalLockPath(text, parse = parseLockPath) {
    const segments = text.replaceAll('\\', '/').split('/');
    const last = segments.length - 1;
    const path = segments
        .filter((segment, index) => index === last || (segment !== '.' && (segment !== '' || index === 0)))
        .join('/');
    const composed = compose(path);
    if (!composed.ok)
        return composed;
    if (drive.test(composed.value)) {
        return (0,_parsed_js__WEBPACK_IMPORTED_MODULE_0__/* .refused */ .J)('A path is relative to the workspace: it must not start with a drive (C:).');
    }
    return parse(composed.value);
}
const asOneSegment = (path) => encodeURIComponent(path);
const asSegments = (path) => path.split('/').map(encodeURIComponent).join('/');
function lockPathFromUrl(raw) {
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
const minEncoded = 8;
const percent = (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
function inAddresses(secret) {
    const component = encodeURIComponent(secret.toWellFormed());
    const inForm = new URLSearchParams({ '': secret }).toString().slice(1);
    const all = [component, component.replaceAll(/[!'()*]/g, percent), inForm];
    return [...all, ...all.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase()))];
}
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
const asMisread = (secret) => Buffer.from(secret, 'latin1').toString();
const minLine = 4;
const withItsLines = (secret) => [
    secret,
    ...secret
        .split(/[\r\n]+/)
        .map((line) => line.trim())
        .filter((line) => line.length >= minLine),
];
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
const redact = (text, spellings) => spellings.reduce((rest, spelling) => rest.replaceAll(spelling, '***'), text);
function redactCut(text, spellings) {
    const whole = redact(text, spellings).replace(/(?<!\ufffd)\ufffd+$/, '');
    const begun = spellings.map((spelling) => begunAtEnd(whole, spelling));
    return whole.slice(0, whole.length - Math.max(0, ...begun));
}
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
    for (const character of text.slice(-(secret.length - 1)).split(''))
        begun = extend(begun, character);
    return begun;
}
function createRedactor(secrets) {
    const spellings = spellingsOf(secrets);
    return (text) => redact(text, spellings);
}


/***/ }),

/***/ 950:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  yU: () => (/* binding */ ExitCode),
  Yz: () => (/* binding */ debug),
  N4: () => (/* binding */ endGroup),
  z3: () => (/* binding */ error),
  V4: () => (/* binding */ getInput),
  Gu: () => (/* binding */ getState),
  pq: () => (/* binding */ info),
  uH: () => (/* binding */ setOutput),
  Pq: () => (/* binding */ setSecret),
  Oh: () => (/* binding */ startGroup),
  $e: () => (/* binding */ warning)
});

// UNUSED EXPORTS: addPath, exportVariable, getBooleanInput, getIDToken, getMultilineInput, group, isDebug, markdownSummary, notice, platform, saveState, setCommandEcho, setFailed, summary, toPlatformPath, toPosixPath, toWin32Path

// EXTERNAL MODULE: external "os"
var external_os_ = __nccwpck_require__(857);
;// CONCATENATED MODULE: ./build/bundle/node_modules/@actions/core/lib/utils.js
// We use any as a valid input type
/* eslint-disable @typescript-eslint/no-explicit-any */
/**
 * Sanitizes an input into a string so it can be passed into issueCommand safely
 * @param input input to sanitize into a string
 */
function utils_toCommandValue(input) {
    if (input === null || input === undefined) {
        return '';
    }
    else if (typeof input === 'string' || input instanceof String) {
        return input;
    }
    return JSON.stringify(input);
}
/**
 *
 * @param annotationProperties
 * @returns The command properties to send with the actual annotation command
 * See IssueCommandProperties: https://github.com/actions/runner/blob/main/src/Runner.Worker/ActionCommandManager.cs#L646
 */
function utils_toCommandProperties(annotationProperties) {
    if (!Object.keys(annotationProperties).length) {
        return {};
    }
    return {
        title: annotationProperties.title,
        file: annotationProperties.file,
        line: annotationProperties.startLine,
        endLine: annotationProperties.endLine,
        col: annotationProperties.startColumn,
        endColumn: annotationProperties.endColumn
    };
}
//# sourceMappingURL=utils.js.map
;// CONCATENATED MODULE: ./build/bundle/node_modules/@actions/core/lib/command.js


/**
 * Issues a command to the GitHub Actions runner
 *
 * @param command - The command name to issue
 * @param properties - Additional properties for the command (key-value pairs)
 * @param message - The message to include with the command
 * @remarks
 * This function outputs a specially formatted string to stdout that the Actions
 * runner interprets as a command. These commands can control workflow behavior,
 * set outputs, create annotations, mask values, and more.
 *
 * Command Format:
 *   ::name key=value,key=value::message
 *
 * @example
 * ```typescript
 * // Issue a warning annotation
 * issueCommand('warning', {}, 'This is a warning message');
 * // Output: ::warning::This is a warning message
 *
 * // Set an environment variable
 * issueCommand('set-env', { name: 'MY_VAR' }, 'some value');
 * // Output: ::set-env name=MY_VAR::some value
 *
 * // Add a secret mask
 * issueCommand('add-mask', {}, 'secretValue123');
 * // Output: ::add-mask::secretValue123
 * ```
 *
 * @internal
 * This is an internal utility function that powers the public API functions
 * such as setSecret, warning, error, and exportVariable.
 */
function command_issueCommand(command, properties, message) {
    const cmd = new Command(command, properties, message);
    process.stdout.write(cmd.toString() + external_os_.EOL);
}
function command_issue(name, message = '') {
    command_issueCommand(name, {}, message);
}
const CMD_STRING = '::';
class Command {
    constructor(command, properties, message) {
        if (!command) {
            command = 'missing.command';
        }
        this.command = command;
        this.properties = properties;
        this.message = message;
    }
    toString() {
        let cmdStr = CMD_STRING + this.command;
        if (this.properties && Object.keys(this.properties).length > 0) {
            cmdStr += ' ';
            let first = true;
            for (const key in this.properties) {
                if (this.properties.hasOwnProperty(key)) {
                    const val = this.properties[key];
                    if (val) {
                        if (first) {
                            first = false;
                        }
                        else {
                            cmdStr += ',';
                        }
                        cmdStr += `${key}=${escapeProperty(val)}`;
                    }
                }
            }
        }
        cmdStr += `${CMD_STRING}${escapeData(this.message)}`;
        return cmdStr;
    }
}
function escapeData(s) {
    return utils_toCommandValue(s)
        .replace(/%/g, '%25')
        .replace(/\r/g, '%0D')
        .replace(/\n/g, '%0A');
}
function escapeProperty(s) {
    return utils_toCommandValue(s)
        .replace(/%/g, '%25')
        .replace(/\r/g, '%0D')
        .replace(/\n/g, '%0A')
        .replace(/:/g, '%3A')
        .replace(/,/g, '%2C');
}
//# sourceMappingURL=command.js.map
;// CONCATENATED MODULE: ./build/bundle/node_modules/@actions/core/lib/crypto.js
/**
 * All that the toolkit asks of Node's crypto: the delimiter around an output or a state. It must not occur in the value,
 * which the toolkit checks itself; nothing depends on it being secret.
 */
function randomUUID() {
  const hex = Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

// EXTERNAL MODULE: external "fs"
var external_fs_ = __nccwpck_require__(896);
;// CONCATENATED MODULE: ./build/bundle/node_modules/@actions/core/lib/file-command.js
// For internal use, subject to change.
// We use any as a valid input type
/* eslint-disable @typescript-eslint/no-explicit-any */




function file_command_issueFileCommand(command, message) {
    const filePath = process.env[`GITHUB_${command}`];
    if (!filePath) {
        throw new Error(`Unable to find environment variable for file command ${command}`);
    }
    if (!external_fs_.existsSync(filePath)) {
        throw new Error(`Missing file at path: ${filePath}`);
    }
    external_fs_.appendFileSync(filePath, `${utils_toCommandValue(message)}${external_os_.EOL}`, {
        encoding: 'utf8'
    });
}
function file_command_prepareKeyValueMessage(key, value) {
    const delimiter = `ghadelimiter_${randomUUID()}`;
    const convertedValue = utils_toCommandValue(value);
    // These should realistically never happen, but just in case someone finds a
    // way to exploit uuid generation let's not allow keys or values that contain
    // the delimiter.
    if (key.includes(delimiter)) {
        throw new Error(`Unexpected input: name should not contain the delimiter "${delimiter}"`);
    }
    if (convertedValue.includes(delimiter)) {
        throw new Error(`Unexpected input: value should not contain the delimiter "${delimiter}"`);
    }
    return `${key}<<${delimiter}${external_os_.EOL}${convertedValue}${external_os_.EOL}${delimiter}`;
}
//# sourceMappingURL=file-command.js.map
;// CONCATENATED MODULE: external "path"
const external_path_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("path");
;// CONCATENATED MODULE: ./build/bundle/node_modules/@actions/core/lib/core.js
var __awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};






/**
 * The code to exit an action
 */
var ExitCode;
(function (ExitCode) {
    /**
     * A code indicating that the action was successful
     */
    ExitCode[ExitCode["Success"] = 0] = "Success";
    /**
     * A code indicating that the action was a failure
     */
    ExitCode[ExitCode["Failure"] = 1] = "Failure";
})(ExitCode || (ExitCode = {}));
//-----------------------------------------------------------------------
// Variables
//-----------------------------------------------------------------------
/**
 * Sets env variable for this action and future actions in the job
 * @param name the name of the variable to set
 * @param val the value of the variable. Non-string values will be converted to a string via JSON.stringify
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function exportVariable(name, val) {
    const convertedVal = toCommandValue(val);
    process.env[name] = convertedVal;
    const filePath = process.env['GITHUB_ENV'] || '';
    if (filePath) {
        return issueFileCommand('ENV', prepareKeyValueMessage(name, val));
    }
    issueCommand('set-env', { name }, convertedVal);
}
/**
 * Registers a secret which will get masked from logs
 *
 * @param secret - Value of the secret to be masked
 * @remarks
 * This function instructs the Actions runner to mask the specified value in any
 * logs produced during the workflow run. Once registered, the secret value will
 * be replaced with asterisks (***) whenever it appears in console output, logs,
 * or error messages.
 *
 * This is useful for protecting sensitive information such as:
 * - API keys
 * - Access tokens
 * - Authentication credentials
 * - URL parameters containing signatures (SAS tokens)
 *
 * Note that masking only affects future logs; any previous appearances of the
 * secret in logs before calling this function will remain unmasked.
 *
 * @example
 * ```typescript
 * // Register an API token as a secret
 * const apiToken = "abc123xyz456";
 * setSecret(apiToken);
 *
 * // Now any logs containing this value will show *** instead
 * console.log(`Using token: ${apiToken}`); // Outputs: "Using token: ***"
 * ```
 */
function setSecret(secret) {
    command_issueCommand('add-mask', {}, secret);
}
/**
 * Prepends inputPath to the PATH (for this action and future actions)
 * @param inputPath
 */
function addPath(inputPath) {
    const filePath = process.env['GITHUB_PATH'] || '';
    if (filePath) {
        issueFileCommand('PATH', inputPath);
    }
    else {
        issueCommand('add-path', {}, inputPath);
    }
    process.env['PATH'] = `${inputPath}${path.delimiter}${process.env['PATH']}`;
}
/**
 * Gets the value of an input.
 * Unless trimWhitespace is set to false in InputOptions, the value is also trimmed.
 * Returns an empty string if the value is not defined.
 *
 * @param     name     name of the input to get
 * @param     options  optional. See InputOptions.
 * @returns   string
 */
function getInput(name, options) {
    const val = process.env[`INPUT_${name.replace(/ /g, '_').toUpperCase()}`] || '';
    if (options && options.required && !val) {
        throw new Error(`Input required and not supplied: ${name}`);
    }
    if (options && options.trimWhitespace === false) {
        return val;
    }
    return val.trim();
}
/**
 * Gets the values of an multiline input.  Each value is also trimmed.
 *
 * @param     name     name of the input to get
 * @param     options  optional. See InputOptions.
 * @returns   string[]
 *
 */
function getMultilineInput(name, options) {
    const inputs = getInput(name, options)
        .split('\n')
        .filter(x => x !== '');
    if (options && options.trimWhitespace === false) {
        return inputs;
    }
    return inputs.map(input => input.trim());
}
/**
 * Gets the input value of the boolean type in the YAML 1.2 "core schema" specification.
 * Support boolean input list: `true | True | TRUE | false | False | FALSE` .
 * The return value is also in boolean type.
 * ref: https://yaml.org/spec/1.2/spec.html#id2804923
 *
 * @param     name     name of the input to get
 * @param     options  optional. See InputOptions.
 * @returns   boolean
 */
function getBooleanInput(name, options) {
    const trueValue = ['true', 'True', 'TRUE'];
    const falseValue = ['false', 'False', 'FALSE'];
    const val = getInput(name, options);
    if (trueValue.includes(val))
        return true;
    if (falseValue.includes(val))
        return false;
    throw new TypeError(`Input does not meet YAML 1.2 "Core Schema" specification: ${name}\n` +
        `Support boolean input list: \`true | True | TRUE | false | False | FALSE\``);
}
/**
 * Sets the value of an output.
 *
 * @param     name     name of the output to set
 * @param     value    value to store. Non-string values will be converted to a string via JSON.stringify
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function setOutput(name, value) {
    const filePath = process.env['GITHUB_OUTPUT'] || '';
    if (filePath) {
        return file_command_issueFileCommand('OUTPUT', file_command_prepareKeyValueMessage(name, value));
    }
    process.stdout.write(external_os_.EOL);
    command_issueCommand('set-output', { name }, utils_toCommandValue(value));
}
/**
 * Enables or disables the echoing of commands into stdout for the rest of the step.
 * Echoing is disabled by default if ACTIONS_STEP_DEBUG is not set.
 *
 */
function setCommandEcho(enabled) {
    issue('echo', enabled ? 'on' : 'off');
}
//-----------------------------------------------------------------------
// Results
//-----------------------------------------------------------------------
/**
 * Sets the action status to failed.
 * When the action exits it will be with an exit code of 1
 * @param message add error issue message
 */
function setFailed(message) {
    process.exitCode = ExitCode.Failure;
    error(message);
}
//-----------------------------------------------------------------------
// Logging Commands
//-----------------------------------------------------------------------
/**
 * Gets whether Actions Step Debug is on or not
 */
function isDebug() {
    return process.env['RUNNER_DEBUG'] === '1';
}
/**
 * Writes debug message to user log
 * @param message debug message
 */
function debug(message) {
    command_issueCommand('debug', {}, message);
}
/**
 * Adds an error issue
 * @param message error issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function error(message, properties = {}) {
    command_issueCommand('error', utils_toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Adds a warning issue
 * @param message warning issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function warning(message, properties = {}) {
    command_issueCommand('warning', utils_toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Adds a notice issue
 * @param message notice issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function notice(message, properties = {}) {
    issueCommand('notice', toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Writes info to log with console.log.
 * @param message info message
 */
function info(message) {
    process.stdout.write(message + external_os_.EOL);
}
/**
 * Begin an output group.
 *
 * Output until the next `groupEnd` will be foldable in this group
 *
 * @param name The name of the output group
 */
function startGroup(name) {
    command_issue('group', name);
}
/**
 * End an output group.
 */
function endGroup() {
    command_issue('endgroup');
}
/**
 * Wrap an asynchronous function call in a group.
 *
 * Returns the same type as the function itself.
 *
 * @param name The name of the group
 * @param fn The function to wrap in the group
 */
function group(name, fn) {
    return __awaiter(this, void 0, void 0, function* () {
        startGroup(name);
        let result;
        try {
            result = yield fn();
        }
        finally {
            endGroup();
        }
        return result;
    });
}
//-----------------------------------------------------------------------
// Wrapper action state
//-----------------------------------------------------------------------
/**
 * Saves state for current action, the state can only be retrieved by this action's post job execution.
 *
 * @param     name     name of the state to store
 * @param     value    value to store. Non-string values will be converted to a string via JSON.stringify
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function saveState(name, value) {
    const filePath = process.env['GITHUB_STATE'] || '';
    if (filePath) {
        return issueFileCommand('STATE', prepareKeyValueMessage(name, value));
    }
    issueCommand('save-state', { name }, toCommandValue(value));
}
/**
 * Gets the value of an state set by this action's main execution.
 *
 * @param     name     name of the state to get
 * @returns   string
 */
function getState(name) {
    return process.env[`STATE_${name}`] || '';
}
function getIDToken(aud) {
    return __awaiter(this, void 0, void 0, function* () {
        return yield OidcClient.getIDToken(aud);
    });
}
/**
 * Summary exports
 */

/**
 * @deprecated use core.summary
 */

/**
 * Path exports
 */

/**
 * Platform utilities exports
 */

//# sourceMappingURL=core.js.map

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
