export const id = 47;
export const ids = [47];
export const modules = {

/***/ 47:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  release: () => (/* binding */ release)
});

// UNUSED EXPORTS: attempts, longestAttempt, patienceMs

// EXTERNAL MODULE: ./build/bundle/compiled/interface/duration.js
var duration = __webpack_require__(393);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/html-to-text.js
const tag = /<\/?[a-z!][^<>]*>/gi;
const entities = {
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&apos;': "'",
    '&nbsp;': ' ',
    '&amp;': '&',
};
const looksLikeHtml = (text) => /^\s*<(!doctype|html|head|body|!--)/i.test(text);
/** What begins a part of a page that nobody reads, and what ends it. */
const beginning = /<(?:(script|style|template)\b[^<>]*>|!--)/gi;
const ends = {
    script: /<\/script\s*>/gi,
    style: /<\/style\s*>/gi,
    template: /<\/template\s*>/gi,
    comment: /-->/g,
};
/**
 * Without scripts, styles, templates and comments; one that does not end is left as it is. That there is no end is found
 * out once for each kind: looked for again at every beginning, a page of beginnings would take time that grows with the
 * square of its length.
 */
function withoutUnseen(text) {
    const endless = new Set();
    let seen = '';
    let from = 0;
    for (const { 0: begun, 1: name = 'comment', index } of text.matchAll(beginning)) {
        const kind = name.toLowerCase();
        const end = ends[kind];
        if (index < from || end === undefined || endless.has(kind))
            continue;
        end.lastIndex = index + begun.length;
        if (end.test(text)) {
            seen += `${text.slice(from, index)} `;
            from = end.lastIndex;
        }
        else
            endless.add(kind);
    }
    return seen + text.slice(from);
}
/** What of a page a person would read; a text that is none comes back as it is. */
function htmlToText(text) {
    if (!looksLikeHtml(text))
        return text;
    return withoutUnseen(text)
        .replaceAll(tag, ' ')
        .replaceAll(/&(?:lt|gt|quot|#39|apos|nbsp|amp);/g, (entity) => entities[entity] ?? entity);
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/json.js
var json = __webpack_require__(395);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/answer.js


const largestBody = 10 * 1_024 * 1_024;
const longestExcerpt = 200;
/** JSON is known by itself: many servers name it `text/plain` or not at all. */
function readBody({ bytes, tooLarge }, headers, texts) {
    const coding = headers['content-encoding']?.trim().toLowerCase() ?? '';
    if (coding !== '' && coding !== 'identity' && bytes.length > 0) {
        const why = `it is compressed (${texts.line(coding, 40)}), which was not asked for`;
        return { kind: 'other', why, excerpt: '', isHtml: false };
    }
    const text = new TextDecoder().decode(bytes);
    if (text.trim() === '')
        return { kind: 'empty' };
    const excerpt = texts.excerpt(text, longestExcerpt);
    if (tooLarge)
        return { kind: 'too-large', excerpt };
    const parsed = (0,json/* parseJson */.qF)(text, texts.data);
    if (parsed.ok)
        return { kind: 'json', value: parsed.value, byteLength: bytes.length };
    const type = texts.line(headers['content-type'] ?? '', 80);
    const why = `${parsed.why}${type === '' ? '' : ` (its type is said to be ${type})`}`;
    return { kind: 'other', why, excerpt, isHtml: looksLikeHtml(text) };
}
const isSuccess = ({ status }) => status >= 200 && status < 300;
/** What an object in the body says; nothing where there is none. */
const objectIn = ({ body }) => (body.kind === 'json' ? (0,json/* asObject */.eB)(body.value) : {});
/** A header of which one value is meant; of several the first. */
function headerOf({ headers }, name) {
    const value = headers[name];
    const [first] = Array.isArray(value) ? value : [value];
    return first?.trim() === '' ? undefined : first?.trim();
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/secret-spellings.js
var secret_spellings = __webpack_require__(776);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/service-text.js


/** What moves a cursor, starts a line, reorders or hides text; a run of it, with the blanks around it, is one blank. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;
const controlCharacter = /[\p{Cc}\p{Cs}]/gu;
/** Of a longer text the rest is not even looked at. */
const mostRead = 16_384;
/** In data, so short a secret would be found in words that have nothing to do with it. */
const shortestInData = 8;
const mask = '***';
const longestFirst = (texts) => [...new Set(texts)].filter((text) => text !== '').sort((a, b) => b.length - a.length);
const maskAll = (text, secrets) => secrets.reduce((masked, secret) => masked.replaceAll(secret, mask), text);
function cut(text, most) {
    if (text.length <= most)
        return text;
    // Not between the halves of a surrogate pair.
    return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
function createServiceText(secrets) {
    const anywhere = longestFirst(secrets.flatMap(secret_spellings/* spellingsOf */.H));
    const inData = anywhere.filter((secret) => secret.length >= shortestInData);
    const longest = anywhere[0]?.length ?? 0;
    const shortest = inData.at(-1)?.length ?? Number.POSITIVE_INFINITY;
    /** `goesOn`: what was read ends where it may have ended within a secret, of which the beginning is not shown either. */
    function shown(text, most, goesOn) {
        // Masked before it is cut: half a secret is one too.
        const masked = maskAll(text.replaceAll(unsafe, ' ').trim(), anywhere);
        return cut(goesOn ? masked.slice(0, Math.max(0, masked.length - longest)) : masked, most);
    }
    return {
        line: (text, most) => shown(text.slice(0, mostRead), most, text.length > mostRead),
        excerpt: (body, most) => shown(htmlToText(body.slice(0, mostRead)), most, body.length > mostRead),
        // An answer may have millions of texts, most of them shorter than any secret.
        data: (text) => (text.length < shortest ? text : maskAll(text, inData)),
    };
}
/** Paths and ids are shorter. */
const longestName = 4_096;
/**
 * More marks on one letter than any language has (Unicode Standard Annex 15, section 13, "Stream-Safe Text Format"). To
 * put them in order takes time that grows with the square of their number, and a list may have thousands of such names.
 */
const tooManyMarks = /\p{M}{31}/u;
/**
 * A path or an id as the service names it: comparable with ours, and without control characters, which none has. What is
 * too long for either is cut, and what nobody writes is left as it came.
 */
function plainName(name) {
    // Long enough that there is something left to cut.
    const read = name.slice(0, longestName + 1);
    const composed = tooManyMarks.test(read) ? read : read.normalize('NFC');
    return cut(composed.replaceAll(controlCharacter, '\ufffd'), longestName);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/timestamp.js
const lastYear = Date.UTC(10_000, 0, 1) - 1;
const timestamp = (ms) => ms >= 0 && ms <= lastYear ? new Date(ms).toISOString() : undefined;
/** Numbers below this are seconds since 1970; in milliseconds it would be in 1973. */
const firstMilliseconds = 100_000_000_000;
/** Date.parse finds a date in nearly every text that has a number. */
const looksLikeDate = /^(\d{4}-\d\d-\d\d|(mon|tue|wed|thu|fri|sat|sun)\b)/i;
/** RFC 3339, what else a server may take for a date, or a number of seconds or milliseconds since 1970. */
function timestampIn(json) {
    if (typeof json === 'number')
        return timestamp(json < firstMilliseconds ? json * 1_000 : json);
    if (typeof json !== 'string' || !looksLikeDate.test(json))
        return undefined;
    // Without a zone it would be read in the zone of this machine.
    const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(json);
    return timestamp(Date.parse(zoneless ? `${json}Z` : json));
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/known-lock.js




const names = {
    path: ['path', 'file', 'file_path', 'filePath', 'filename', 'resource'],
    id: ['id', 'lock_id', 'lockId', 'uuid'],
    type: ['type', 'lock_type', 'lockType', 'kind'],
    owner: ['owner', 'owner_name', 'ownerName', 'holder', 'locked_by', 'lockedBy', 'user', 'username', 'created_by'],
    person: ['name', 'login', 'username', 'display_name', 'displayName', 'email', 'id'],
    origin: ['origin', 'run_url', 'runUrl'],
    acquired: ['acquired_at', 'acquiredAt', 'locked_at', 'lockedAt', 'created_at', 'createdAt', 'since'],
    expires: ['expires_at', 'expiresAt', 'expires', 'expiry', 'expiration', 'valid_until', 'until'],
    fence: ['fence', 'fencing_token', 'fencingToken'],
};
const known_lock_longestName = 256;
const longestOrigin = 1_024;
/** What can be quoted as an entity tag, RFC 9110 section 8.8.3; anything else proves nothing to the service. */
const opaque = /^[\x21\x23-\x7e\x80-\xff]{1,1024}$/;
const idIn = (lock) => {
    const id = (0,json/* firstName */.u$)(lock, names.id);
    return id !== undefined && opaque.test(id) ? id : undefined;
};
/** Weak tags (W/"…") never match an If-Match, RFC 9110 section 13.1.1: some servers put one on every answer. */
const strong = (etag) => etag === undefined || etag.startsWith('W/') || etag === '*' ? undefined : etag;
/** In a body, some leave the quotes away. */
function etagIn(lock) {
    const tag = (0,json/* firstName */.u$)(lock, ['etag', 'ETag'])?.replace(/^"(.*)"$/s, '$1');
    return tag !== undefined && opaque.test(tag) ? `"${tag}"` : undefined;
}
const etagOf = (answer) => strong(headerOf(answer, 'etag'));
/** Not the type of the problem that a lock may be a part of, which is an address. */
const typeIn = (lock) => {
    const type = (0,json/* firstName */.u$)(lock, names.type);
    return type !== undefined && /^[\w.-]{1,64}$/.test(type) ? type : undefined;
};
/** Some write large numbers as texts. One that is not exact any more protects nothing. */
function fenceIn(lock) {
    const fence = (0,json/* firstName */.u$)(lock, names.fence) ?? '';
    const number = /^\d{1,16}$/.test(fence) ? Number(fence) : Number.NaN;
    return Number.isSafeInteger(number) ? number : undefined;
}
function ownerIn(lock) {
    const owner = (0,json/* firstMember */.PE)(lock, names.owner);
    return (0,json/* isObject */.Gv)(owner) ? (0,json/* firstName */.u$)(owner, names.person) : (0,json/* nameIn */.ZC)(owner);
}
/** `path` is what to call it where the service names none. */
function readLock(lock, path, texts) {
    const line = (text, most) => text === undefined ? undefined : (0,json/* nameIn */.ZC)(texts.line(text, most));
    return {
        path: plainName((0,json/* firstName */.u$)(lock, names.path) ?? path),
        type: typeIn(lock),
        id: idIn(lock),
        etag: etagIn(lock),
        owner: line(ownerIn(lock), known_lock_longestName),
        origin: line((0,json/* firstName */.u$)(lock, names.origin), longestOrigin),
        acquired_at: timestampIn((0,json/* firstMember */.PE)(lock, names.acquired)),
        expires_at: timestampIn((0,json/* firstMember */.PE)(lock, names.expires)),
        fence: fenceIn(lock),
        raw: lock,
    };
}
/** An entry of a list of locks; undefined when it names no path. */
function readListedLock(entry, texts) {
    if (typeof entry === 'string')
        return entry === '' ? undefined : readLock({}, entry, texts);
    const lock = (0,json/* isObject */.Gv)(entry) ? unwrapped(entry) : {};
    const path = (0,json/* firstName */.u$)(lock, names.path);
    return path === undefined ? undefined : readLock(lock, path, texts);
}
/** The lock itself where it is wrapped. */
function unwrapped(body) {
    const inner = [body['lock'], body['data'], body['result']].find(json/* isObject */.Gv);
    return inner ?? body;
}
const tellsOfAHolder = (body) => ownerIn(body) !== undefined || timestampIn((0,json/* firstMember */.PE)(body, names.expires)) !== undefined;
/** The lock that stands in the way, in the body of a 409, 412 or 423; undefined when it tells of none. */
function holderIn(answer) {
    const body = objectIn(answer);
    const { locks, holder } = body;
    const [first] = (0,json/* isArray */.cy)(locks) ? locks : [];
    const named = [body['lock'], first, body['current_lock'], (0,json/* asObject */.eB)(body['error'])['lock'], body['data']].find(json/* isObject */.Gv);
    if (named !== undefined)
        return named;
    // A holder is a lock, or whoever has it.
    if ((0,json/* isObject */.Gv)(holder))
        return tellsOfAHolder(holder) ? holder : { owner: holder };
    return tellsOfAHolder(body) ? body : undefined;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/error-words.js

const longestWords = 500;
const longestDetail = 200;
const mostFields = 20;
const joined = (...parts) => {
    const said = [...new Set(parts.filter((part) => part !== undefined))];
    return said.length === 0 ? undefined : said.join(': ');
};
/** What an error body says, in the words of its sender, as it came. */
function rawWordsOf(body) {
    if (typeof body === 'string')
        return (0,json/* nameIn */.ZC)(body);
    const object = (0,json/* asObject */.eB)(body);
    const error = object['error'];
    const nested = (0,json/* asObject */.eB)(error);
    return ((0,json/* firstName */.u$)(object, ['detail', 'title']) ??
        (0,json/* firstName */.u$)(nested, ['message', 'detail', 'title', 'code']) ??
        // `error` is often no more than a code or the name of the status, and a sentence stands beside it.
        joined((0,json/* nameIn */.ZC)(error), (0,json/* firstName */.u$)(object, ['message', 'error_description'])) ??
        (0,json/* firstName */.u$)((0,json/* asObject */.eB)(object['fault']), ['faultstring']));
}
/** `#/hook/url`, `/hook/url`, `["body", "hook", "url"]` or `hook.url`. */
function fieldOf(error) {
    const path = error['loc'] ?? error['path'];
    if ((0,json/* isArray */.cy)(path))
        return path.map((part) => (0,json/* nameIn */.ZC)(part) ?? '').join('/');
    const source = (0,json/* asObject */.eB)(error['source']);
    const name = (0,json/* firstName */.u$)(error, ['pointer', 'field', 'param', 'path', 'name']) ?? (0,json/* firstName */.u$)(source, ['pointer']);
    return name?.replace(/^#?\//, '');
}
function fieldErrors(errors) {
    if ((0,json/* isArray */.cy)(errors)) {
        return errors.flatMap((error) => {
            const detail = typeof error === 'string' ? error : (0,json/* firstName */.u$)((0,json/* asObject */.eB)(error), ['detail', 'message', 'msg', 'title']);
            return detail === undefined ? [] : [{ field: (0,json/* isObject */.Gv)(error) ? fieldOf(error) : undefined, detail }];
        });
    }
    return Object.entries((0,json/* asObject */.eB)(errors)).flatMap(([field, details]) => ((0,json/* isArray */.cy)(details) ? details : [details]).flatMap((detail) => {
        const text = (0,json/* nameIn */.ZC)(detail);
        return text === undefined ? [] : [{ field, detail: text }];
    }));
}
function fieldsOf(body, texts) {
    const object = (0,json/* asObject */.eB)(body);
    const nested = (0,json/* asObject */.eB)(object['error']);
    const lists = [object['errors'], object['detail'], object['details'], nested['errors'], nested['details']];
    const found = lists.map(fieldErrors).find((errors) => errors.length > 0) ?? [];
    return found.slice(0, mostFields).map(({ field, detail }) => ({
        field: field === undefined || field === '' ? undefined : texts.line(field, longestDetail),
        detail: texts.line(detail, longestDetail),
    }));
}
function wordsOf(body, texts) {
    const words = rawWordsOf(body);
    return words === undefined ? undefined : (0,json/* nameIn */.ZC)(texts.line(words, longestWords));
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/retry-after.js
/** RFC 9110 section 10.2.3: how long to wait, from seconds or a date, which is compared with the server's own clock. */
function parseRetryAfter(value, serverNow) {
    const text = value?.trim() ?? '';
    if (/^\d+(\.\d+)?$/.test(text))
        return Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER);
    // Date.parse would read much else as a date. This is the first letter of a day's name in all three forms of HTTP.
    const date = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(date) ? undefined : Math.max(0, date - serverNow);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/refusal.js




const idNames = ['request_id', 'requestId', 'request-id', 'correlation_id', 'correlationId', 'trace_id', 'traceId'];
const idHeaders = [
    'x-request-id',
    'request-id',
    'x-correlation-id',
    'x-amzn-requestid',
    'x-amz-request-id',
    'x-ms-request-id',
    'x-trace-id',
    'cf-ray',
];
const longestId = 128;
/** By what the service, or what stands in front of it, finds the request in its log. */
function requestIdOf(answer, texts) {
    const body = objectIn(answer);
    const id = (0,json/* firstName */.u$)(body, idNames) ??
        (0,json/* firstName */.u$)((0,json/* asObject */.eB)(body['error']), idNames) ??
        idHeaders.map((name) => headerOf(answer, name)).find((value) => value !== undefined);
    return id === undefined ? undefined : texts.line(id, longestId);
}
/** RFC 6750 section 3.1. */
function missingScopeOf(answer, texts) {
    const challenge = headerOf(answer, 'www-authenticate') ?? '';
    if (answer.status !== 403 || !/\berror="?insufficient_scope\b/i.test(challenge))
        return undefined;
    const [, scope] = /\bscope="([^"]+)"/i.exec(challenge) ?? [];
    return scope === undefined ? undefined : texts.line(scope, longestId);
}
function retryAfterOf(answer, serverNow) {
    return parseRetryAfter(headerOf(answer, 'retry-after'), serverNow);
}
/** Where to, without what an address may have of secrets. */
function redirectTarget(location, baseUrl, texts) {
    if (location === undefined || !URL.canParse(location, baseUrl.href))
        return undefined;
    const { protocol, host, pathname } = new URL(location, baseUrl);
    return texts.line(`${protocol}//${host}${pathname}`, 300);
}
/** What an answer means that is none of success. */
function refusalOf(answer, { baseUrl, serverNow, texts }) {
    const { status, body } = answer;
    const requestId = requestIdOf(answer, texts);
    if (status >= 300 && status < 400) {
        return {
            kind: 'redirected',
            status,
            requestId,
            target: redirectTarget(headerOf(answer, 'location'), baseUrl, texts),
        };
    }
    const json = body.kind === 'json' ? body.value : null;
    const excerpt = body.kind === 'other' || body.kind === 'too-large' ? body.excerpt : '';
    return {
        kind: 'refused',
        status,
        requestId,
        words: body.kind === 'json' ? wordsOf(json, texts) : excerpt === '' ? undefined : excerpt,
        fields: fieldsOf(json, texts),
        missingScope: missingScopeOf(answer, texts),
        retryAfterMs: retryAfterOf(answer, serverNow),
    };
}
/** Why an answer of success is of no use where JSON was needed; undefined when it is JSON. */
function unusable(answer, texts) {
    const { status, body } = answer;
    const common = { status, requestId: requestIdOf(answer, texts) };
    switch (body.kind) {
        case 'json':
            return undefined;
        case 'empty':
            return { ...common, kind: 'not-json', why: 'it is empty', excerpt: '' };
        case 'other':
            return { ...common, kind: 'not-json', why: body.why, excerpt: body.excerpt };
        case 'too-large':
            return { ...common, kind: 'too-large', why: 'it is longer than 10 MiB', excerpt: body.excerpt };
    }
}
/** The same where a body does not matter: nothing, and a word in plain text, are fine; a page for people is not. */
function unusableThoughOptional(answer, texts) {
    const { body } = answer;
    if (body.kind === 'empty' || (body.kind === 'other' && !body.isHtml))
        return undefined;
    return unusable(answer, texts);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/acquire-lock.js





/** When the lock was taken at the earliest, by the clock of the server: when the request set out. */
const earliestGrant = ({ sentAt }, clock, serverNow) => serverNow() - (clock() - sentAt);
function createAcquireLock({ call, addresses, clock, serverNow }) {
    function taken(course, { path, type, ttl }) {
        const { answer, texts } = course;
        const told = readLock(unwrapped(objectIn(answer)), path, texts);
        const since = told.acquired_at === undefined ? earliestGrant(course, clock, serverNow) : Date.parse(told.acquired_at);
        return {
            ...told,
            // What was asked for is what it is called by; `raw` has what the service calls it.
            path,
            type: told.type ?? type,
            etag: etagOf(answer) ?? told.etag,
            expires_at: told.expires_at ?? timestamp(since + (0,duration/* milliseconds */.Rz)(ttl)),
            expiry: told.expires_at === undefined ? 'computed' : 'stated',
        };
    }
    function held(course, path) {
        const { answer, texts, mayBeDone } = course;
        const holder = holderIn(answer);
        return {
            kind: 'held',
            holder: holder && readLock(holder, path, texts),
            retryAfterMs: retryAfterOf(answer, serverNow()),
            mayBeOurs: mayBeDone,
            error: course.refuse(answer),
        };
    }
    const without = (error, mayBeDone) => ({
        kind: mayBeDone ? 'unclear' : 'failed',
        error,
    });
    function judge(course, request) {
        const { answer, texts, mayBeDone } = course;
        if (isSuccess(answer)) {
            const wrong = unusableThoughOptional(answer, texts);
            if (wrong !== undefined)
                return without(course.fail(wrong), true);
            return { kind: 'acquired', lock: taken(course, request), replayed: isReplayed(answer) };
        }
        if (answer.status === 409 || answer.status === 423)
            return held(course, request.path);
        return without(course.refuse(answer), mayBeDone || sendsElsewhereWhenDone(answer));
    }
    return async (request, within) => {
        const { workspace, path, type, ttl, idempotencyKey, keySentBefore = false } = request;
        const outcome = await call({
            method: 'POST',
            target: addresses.locks(workspace),
            headers: { 'idempotency-key': idempotencyKey },
            body: { path, type, ttl: (0,duration/* formatDuration */.a3)(ttl) },
            keySentBefore,
        }, within);
        return outcome.kind === 'answered' ? judge(outcome, request) : without(outcome.error, outcome.mayBeDone);
    };
}
/** RFC 9110 section 15.4.4: a 303 follows what has been done. */
const sendsElsewhereWhenDone = ({ status }) => status === 303;
/** No standard names the header: it is called one of these. */
const isReplayed = (answer) => ['idempotency-replayed', 'idempotent-replayed'].some((name) => headerOf(answer, name)?.toLowerCase() === 'true');

// EXTERNAL MODULE: ./build/bundle/compiled/interface/lock-path.js
var lock_path = __webpack_require__(860);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/addresses.js

function addressesBelow(baseUrl) {
    const base = baseUrl.pathname.replace(/(?<!\/)\/+$/, '');
    const below = (workspace, ...rest) => [base, 'workspaces', encodeURIComponent(workspace), ...rest].join('/');
    return {
        workspaces: `${base}/workspaces`,
        branches: (workspace) => below(workspace, 'branches'),
        sync: (workspace) => below(workspace, 'sync'),
        locks: (workspace) => below(workspace, 'locks'),
        lock: (workspace, path, slashes) => below(workspace, 'locks', slashes === 'raw' ? (0,lock_path/* asSegments */.ne)(path) : (0,lock_path/* asOneSegment */.IH)(path)),
        hooks: (workspace) => below(workspace, 'hooks'),
    };
}
/** An address that the service gave, as the target of a request to the same server. */
function follow(address, from, baseUrl) {
    const base = new URL(from, baseUrl);
    if (!URL.canParse(address, base.href))
        return { kind: 'not-an-address' };
    const { origin, protocol, host, pathname, search } = new URL(address, base);
    if (origin !== baseUrl.origin)
        return { kind: 'elsewhere', origin: `${protocol}//${host}` };
    return { kind: 'target', target: pathname + search };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/connection-failure.js
const neverConnected = new Set([
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EADDRNOTAVAIL',
    'EPROTO',
]);
/** What breaks before a request can be sent, but is named like what breaks after. */
const unconnectedWords = /^tunneling socket could not be established|before secure TLS connection was established/;
/** As OpenSSL and Node name what is wrong with a certificate. */
const certificate = /CERT|SELF_SIGNED|^UNABLE_TO_(GET|VERIFY|DECODE)|^HOSTNAME_MISMATCH$|^INVALID_CA$/;
const connection_failure_longestWords = 300;
/** It is about a flag of the command line, which whoever reads this did not write. */
const tipOfNode = /; if the root CA is installed locally.*$/s;
/** When a name has several addresses, the errors of all of them come in one that has no words of its own. */
const connection_failure_wordsOf = (error) => error instanceof AggregateError && error.message === ''
    ? error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ')
    : error.message;
const textAt = (error, name) => {
    const value = Reflect.get(error, name);
    return typeof value === 'string' ? value : undefined;
};
function connectionFailure(thrown, texts) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const code = textAt(error, 'code');
    const untrusted = code !== undefined && certificate.test(code);
    const unconnected = untrusted ||
        textAt(error, 'syscall') === 'connect' ||
        (code !== undefined && neverConnected.has(code)) ||
        unconnectedWords.test(error.message);
    const words = texts.line(connection_failure_wordsOf(error).replace(tipOfNode, ''), connection_failure_longestWords);
    return {
        kind: 'connection',
        code,
        words: code === undefined || words.includes(code) ? words : `${words} (${code})`,
        mayHaveArrived: !unconnected,
        untrusted,
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/time-limit.js
const abortedBy = (signal) => ({ signal, ending: () => 'aborted' });
/** A longer time would make the timer fire at once. */
const longestTimer = 2 ** 31 - 1;
const startMachineTimer = (ms, work) => {
    const timer = setTimeout(work, Math.min(Math.max(ms, 0), longestTimer));
    return () => clearTimeout(timer);
};
/** Ends what listens to its signal after a time, or earlier with one of the outer signals. */
function startTimeLimit(ms, meaning, outers, startTimer = startMachineTimer) {
    const controller = new AbortController();
    let ended;
    const end = (ending) => {
        ended ??= ending;
        controller.abort();
    };
    const stopTimer = startTimer(ms, () => end(meaning));
    const forgetters = outers.map(({ signal, ending }) => {
        const pass = () => end(ending() ?? 'aborted');
        if (signal.aborted)
            pass();
        else
            signal.addEventListener('abort', pass, { once: true });
        return () => signal.removeEventListener('abort', pass);
    });
    return {
        signal: controller.signal,
        ending: () => ended,
        lift: () => {
            stopTimer();
            for (const forget of forgetters)
                forget();
        },
    };
}
/** The promise, or undefined as soon as the signal is aborted; what the promise ends with then is of no interest. */
function unlessAborted(promise, signal) {
    return new Promise((resolve, reject) => {
        const stop = () => resolve(undefined);
        if (signal.aborted)
            stop();
        signal.addEventListener('abort', stop, { once: true });
        promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/attempt.js



const truncated = (words) => ({
    kind: 'connection',
    code: undefined,
    words,
    mayHaveArrived: true,
    untrusted: false,
});
function attemptOf(received, texts, sentAt) {
    const { status, headers, endIsUnsure } = received;
    const body = readBody(received, headers, texts);
    const claimsJson = /\bjson\b/i.test(headers['content-type'] ?? '');
    if (endIsUnsure && claimsJson && body.kind === 'other') {
        return { kind: 'lost', failure: truncated('the answer was cut in its middle'), mayBeDone: true, sentAt };
    }
    return { kind: 'answered', answer: { status, headers, body }, sentAt };
}
const endedBy = (operation, sentAt) => ({
    kind: 'ended',
    by: operation.ending() === 'deadline' ? 'deadline' : 'aborted',
    sentAt,
});
const createSendOnce = ({ connection, timeoutMs, clock }) => async (request, { texts, operation, answerDelayMs }) => {
    const sentAt = clock();
    const limitMs = timeoutMs + answerDelayMs;
    const limit = startTimeLimit(limitMs, 'timeout', [operation]);
    try {
        const received = await unlessAborted(connection.send(request, limit.signal), limit.signal);
        if (received !== undefined)
            return attemptOf(received, texts, sentAt);
    }
    catch (error) {
        if (!limit.signal.aborted) {
            const failure = connectionFailure(error, texts);
            return { kind: 'lost', failure, mayBeDone: failure.mayHaveArrived, sentAt };
        }
    }
    finally {
        limit.lift();
    }
    if (limit.ending() !== 'timeout')
        return endedBy(operation, sentAt);
    return { kind: 'lost', failure: { kind: 'timeout', limitMs }, mayBeDone: true, sentAt };
};

;// CONCATENATED MODULE: ./build/bundle/compiled/client/gate.js
/** Lets so many in at once; the others wait in the order in which they came. */
function createGate(size) {
    let free = size;
    const waiting = new Set();
    function leaveOnce() {
        let inside = true;
        return () => {
            if (!inside)
                return;
            inside = false;
            const [next] = waiting;
            if (next === undefined)
                free += 1;
            else
                next();
        };
    }
    return {
        /** Undefined when the signal was aborted first. */
        async enter(signal) {
            if (signal.aborted)
                return undefined;
            if (free > 0) {
                free -= 1;
                return leaveOnce();
            }
            return new Promise((resolve) => {
                const giveUp = () => {
                    waiting.delete(admit);
                    resolve(undefined);
                };
                const admit = () => {
                    waiting.delete(admit);
                    signal.removeEventListener('abort', giveUp);
                    resolve(leaveOnce());
                };
                waiting.add(admit);
                signal.addEventListener('abort', giveUp, { once: true });
            });
        },
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/admission.js

/** Lets requests to their connections: as many at once as there are, and as fast as the service will take them. */
function createAdmission({ maxConnections, throttle, clock, sleep, onPaced }) {
    const connections = createGate(maxConnections);
    /** Only the first of those that are paced waits for the time and for a connection; the others for their turn. */
    const line = createGate(1);
    /** The pace is an estimate: who would run out of time for it asks the service instead. */
    function delayMs(deadline) {
        const now = clock();
        const delay = throttle.delayMs(now);
        return now + delay < deadline ? delay : Math.max(0, throttle.refusedUntil() - now);
    }
    async function enterPaced({ deadline, signal }) {
        let limited = false;
        while (!signal.aborted) {
            const leave = await connections.enter(signal);
            if (leave === undefined)
                break;
            const delay = delayMs(deadline);
            if (delay === 0) {
                throttle.sent(clock());
                return { kind: 'admitted', leave };
            }
            // What is not paced may have the connection meanwhile.
            leave();
            if (clock() + delay >= deadline)
                return { kind: 'too-late', delayMs: delay };
            limited = true;
            if (throttle.refusedUntil() <= clock())
                onPaced(delay);
            await sleep(delay, signal);
        }
        return { kind: 'ended', limited };
    }
    return async (entrant) => {
        const { paced, signal } = entrant;
        const leave = await (paced ? line : connections).enter(signal);
        if (leave === undefined)
            return { kind: 'ended', limited: paced && throttle.delayMs(clock()) > 0 };
        return paced ? enterPaced(entrant).finally(leave) : { kind: 'admitted', leave };
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/backoff.js
const first = 500;
const longest = 10_000;
/** Everybody who was sent away at the same moment was told the same time to wait. */
const spread = 250;
/** How long to wait after so many failed attempts, unless the server has said it. */
function backoff(failed, retryAfterMs, random) {
    const half = Math.min(longest, first * 2 ** (failed - 1)) / 2;
    if (retryAfterMs === undefined)
        return half + random() * half;
    return Math.max(retryAfterMs + random() * spread, half);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/interface/problem.js
/** RFC 9457. `type` is the prefix and one of these names, so that a program can tell problems of one status apart. */
const problemTypePrefix = 'urn:workspace-automation:problem:';
const problems = {
    'malformed-request': { status: 400, title: 'The request cannot be read' },
    unauthorized: { status: 401, title: 'A valid API token is needed' },
    'insufficient-scope': { status: 403, title: 'The token lacks a scope' },
    'lock-of-another-token': { status: 403, title: 'The lock belongs to another token' },
    'cross-site': { status: 403, title: 'The form came from somewhere else' },
    'not-found': { status: 404, title: 'There is nothing here' },
    'method-not-allowed': { status: 405, title: 'This address does not know the method' },
    'request-timeout': { status: 408, title: 'The request took too long to arrive' },
    locked: { status: 409, title: 'The path is locked' },
    'request-in-progress': { status: 409, title: 'The same request is still running' },
    'lock-changed': { status: 412, title: 'This is not the lock that is there' },
    'body-too-large': { status: 413, title: 'The request body is too large' },
    'unsupported-media-type': { status: 415, title: 'The request body is not JSON' },
    'invalid-request': { status: 422, title: 'The request is not valid' },
    'idempotency-key-reused': { status: 422, title: 'The idempotency key belongs to another request' },
    'quota-exceeded': { status: 422, title: 'There is as much of this as there may be' },
    'rate-limited': { status: 429, title: 'Too many requests' },
    'headers-too-large': { status: 431, title: 'The request headers are too large' },
    'internal-error': { status: 500, title: 'The service made a mistake' },
    unavailable: { status: 503, title: 'The service cannot do this now' },
};
const problemMediaType = 'application/problem+json';

;// CONCATENATED MODULE: ./build/bundle/compiled/client/still-running.js





const ours = `${problemTypePrefix}request-in-progress`;
/**
 * Whether a 409 says that an earlier request with the same Idempotency-Key is still at work. Where it names neither
 * that nor a lock, this is only believed of a key that can have arrived before: for a new one it would be a riddle.
 */
function isStillRunning(answer, keyMayHaveArrived) {
    if (answer.status !== 409)
        return false;
    const body = objectIn(answer);
    const type = (0,json/* nameIn */.ZC)(body['type']) ?? '';
    if (type.startsWith(problemTypePrefix))
        return type === ours;
    if (holderIn(answer) !== undefined)
        return false;
    const words = `${type} ${rawWordsOf(body) ?? ''}`;
    if (/idempoten/i.test(words) && /progress|running|outstanding|process|concurrent/i.test(words))
        return true;
    return keyMayHaveArrived && headerOf(answer, 'retry-after') !== undefined;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/judgement.js



const worthRetrying = (status) => status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);
function reasonOf(status, stillRunning, retryAfterMs = 0) {
    if (stillRunning)
        return 'still-running';
    if (status === 429)
        return 'limited';
    return status === 503 && retryAfterMs > 0 ? 'unavailable' : 'failed';
}
function judgeAnswer(answer, context, keyMayHaveArrived) {
    if (isSuccess(answer))
        return { kind: 'end', answer };
    const { status } = answer;
    const stillRunning = isStillRunning(answer, keyMayHaveArrived);
    if (!stillRunning && !worthRetrying(status))
        return { kind: 'end', answer };
    const failure = refusalOf(answer, context);
    const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : undefined;
    const reason = reasonOf(status, stillRunning, retryAfterMs);
    // What stands in front of a service also answers when the service has done it all.
    const mayBeDone = stillRunning || status >= 500;
    return { kind: 'again', reason, failure, mayBeDone, retryAfterMs };
}
/** What an attempt means for the operation: its end, or another attempt. */
function judge(tried, context, keyMayHaveArrived) {
    switch (tried.kind) {
        case 'answered':
            return judgeAnswer(tried.answer, context, keyMayHaveArrived);
        case 'lost': {
            const { failure, mayBeDone } = tried;
            if (failure.kind === 'connection' && failure.untrusted)
                return { kind: 'stop', failure, mayBeDone };
            return { kind: 'again', reason: 'failed', failure, mayBeDone, retryAfterMs: undefined };
        }
        case 'ended': {
            const failure = tried.by === 'aborted' ? { kind: 'aborted' } : { kind: 'deadline', last: undefined, retryAfterMs: undefined };
            return { kind: 'stop', failure, mayBeDone: tried.sentAt !== undefined };
        }
    }
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/rate-limit.js
/** What is longer says nothing that pacing could use. */
const maxFieldLength = 1_000;
const numberIn = (text) => {
    const digits = /^\s*(\d{1,15})\s*(?:[.,;]|$)/.exec(text ?? '')?.[1];
    return digits === undefined ? undefined : Number(digits);
};
function textOf(headers, name) {
    const value = headers[name];
    return (Array.isArray(value) ? value.join(',') : (value ?? '')).slice(0, maxFieldLength);
}
/** A list of RFC 9651 as far as rate limits need it: `"name";key=1;key=2, …`. Quoted names may hold separators. */
function membersOf(field) {
    const members = field.match(/(?:"[^"]*"|[^",])+/g) ?? [];
    return members.map((member) => {
        const [name = '', ...parameters] = member.match(/(?:"[^"]*"|[^";])+/g) ?? [];
        const pairs = parameters.flatMap((parameter) => {
            const [key = '', value] = parameter.split('=', 2);
            const number = numberIn(value);
            return number === undefined ? [] : [[key.trim().toLowerCase(), number]];
        });
        return { name: name.trim(), parameters: new Map(pairs) };
    });
}
/** Where there are several, the one that will be met first. */
const strictest = (all) => all.reduce((least, one) => {
    if (least === undefined || one.remaining < least.remaining)
        return one;
    const isLonger = one.remaining === least.remaining && (one.resetMs ?? 0) > (least.resetMs ?? 0);
    return isLonger ? one : least;
}, undefined);
/** `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers, version 8 and later. */
function byField(headers) {
    const policies = membersOf(textOf(headers, 'ratelimit-policy'));
    return strictest(membersOf(textOf(headers, 'ratelimit')).flatMap(({ name, parameters }) => {
        const remaining = parameters.get('r');
        if (remaining === undefined)
            return [];
        const policy = policies.find((each) => each.name === name)?.parameters;
        const reset = parameters.get('t');
        return [statusOf(remaining, reset === undefined ? undefined : reset * 1_000, policy?.get('q'), policy?.get('w'))];
    }));
}
function statusOf(remaining, resetMs, quota, windowSeconds) {
    const policy = quota && windowSeconds ? { quota, windowMs: windowSeconds * 1_000 } : undefined;
    return { remaining, resetMs, policy };
}
/** A number so large is no time to wait but a moment, in seconds since 1970. */
const firstMoment = 1e9;
/** What was there before the draft, and in its first versions: a header for each number. */
function byHeaders(headers, serverNow) {
    for (const prefix of ['ratelimit-', 'x-ratelimit-']) {
        const remaining = numberIn(textOf(headers, `${prefix}remaining`));
        if (remaining === undefined)
            continue;
        const reset = numberIn(textOf(headers, `${prefix}reset`));
        const resetMs = reset === undefined ? undefined : reset * 1_000 - (reset >= firstMoment ? serverNow : 0);
        return statusOf(remaining, resetMs && Math.max(0, resetMs), undefined, undefined);
    }
    return undefined;
}
/** What cannot be read says nothing. */
const rateLimitIn = (headers, serverNow) => byField(headers) ?? byHeaders(headers, serverNow);

;// CONCATENATED MODULE: ./build/bundle/compiled/client/failure.js
/** What of the answer is known that a failure is about; undefined when there was none. */
function answerIn(failure) {
    if (failure.kind === 'deadline')
        return failure.last && answerIn(failure.last);
    return 'status' in failure ? failure : undefined;
}

// EXTERNAL MODULE: external "node:http"
var external_node_http_ = __webpack_require__(67);
var external_node_http_namespaceObject = /*#__PURE__*/__webpack_require__.t(external_node_http_, 2);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/sentence.js


const statusText = (status) => `${status} ${external_node_http_.STATUS_CODES[status] ?? ''}`.trim();
function timeText(ms) {
    if (ms < 1_000)
        return `${Math.ceil(ms)} ms`;
    const seconds = Math.ceil(ms / 1_000);
    return (0,duration/* formatDuration */.a3)({ seconds: seconds < 120 ? seconds : Math.ceil(seconds / 60) * 60 });
}
const endsSentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);
const inParentheses = (requestId) => requestId === undefined ? '' : ` (request id ${requestId})`;
const mostFieldsShown = 5;
function fieldsText(fields, words) {
    const untold = fields.filter(({ detail }) => !words.includes(detail));
    const shown = untold
        .slice(0, mostFieldsShown)
        .map(({ field, detail }) => ` ${field === undefined ? '' : `${field}: `}${endsSentence(detail)}`);
    const more = untold.length - shown.length;
    return shown.join('') + (more > 0 ? ` And ${more} more.` : '');
}
function adviceOn({ status, missingScope }) {
    if (missingScope !== undefined)
        return ` Use a token that has the scope ${missingScope}.`;
    if (status === 401)
        return ' Use a token that is valid: this one may have expired or been revoked.';
    return '';
}
function refusedText(refused) {
    const words = refused.words ?? '';
    const said = words === '' ? '' : `: ${words}`;
    const fields = fieldsText(refused.fields, words);
    return (endsSentence(`was refused with ${statusText(refused.status)}${inParentheses(refused.requestId)}${said}`) +
        fields +
        adviceOn(refused));
}
function redirectedText({ status, target, requestId }) {
    const to = target === undefined ? '' : ` to ${target}`;
    return `was redirected with ${statusText(status)}${to}${inParentheses(requestId)}. Redirects are not followed, because the token would travel with them: give the address where the service really is.`;
}
function outOfTimeText({ last, retryAfterMs, limited }) {
    if (last === undefined && limited) {
        return 'was not sent: the service limits how many requests it takes, and others came first in the time there was.';
    }
    if (last === undefined)
        return 'got no answer in the time there was for it.';
    const before = failureText(last);
    if (retryAfterMs === undefined)
        return `${before} There was no time left to try again.`;
    return `${before} The service asks to wait for ${timeText(retryAfterMs)}, and there is less time left.`;
}
function failureText(failure) {
    switch (failure.kind) {
        case 'refused':
            return refusedText(failure);
        case 'redirected':
            return redirectedText(failure);
        case 'not-json':
        case 'not-understood':
        case 'too-large': {
            const { status, requestId, why, excerpt } = failure;
            const begins = excerpt === '' ? '' : ` It begins with: ${excerpt}`;
            return endsSentence(`was answered with ${statusText(status)}${inParentheses(requestId)}, but the answer cannot be used: ${endsSentence(why)}${begins}`);
        }
        case 'timeout':
            return `got no whole answer within ${timeText(failure.limitMs)}.`;
        case 'connection':
            return failure.untrusted
                ? `${endsSentence(`was not sent, because the server cannot be trusted: ${failure.words}`)} If its certificate is of an authority of your own, name that one in NODE_EXTRA_CA_CERTS.`
                : endsSentence(`lost its connection: ${failure.words}`);
        case 'deadline':
            return outOfTimeText(failure);
        case 'aborted':
            return 'was stopped.';
        case 'unsendable':
            return endsSentence(`was not sent: ${failure.why}`);
    }
}
/** What happened to what, why, in whose words, and what to do, in one line. */
function sentenceOf({ method, path, attempts }, failure) {
    const tried = attempts > 1 ? ` It was tried ${attempts} times.` : '';
    return `${method} ${path} ${failureText(failure)}${tried}`;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/service-error.js


/** Why an operation has no result. Its message is a sentence for a person, in one line. */
class ServiceError extends Error {
    name = 'ServiceError';
    failure;
    method;
    path;
    attempts;
    constructor(call, failure) {
        super(sentenceOf(call, failure));
        this.failure = failure;
        this.method = call.method;
        this.path = call.path;
        this.attempts = call.attempts;
    }
    /** Of the last answer, where there was one. */
    get status() {
        return answerIn(this.failure)?.status;
    }
    get requestId() {
        return answerIn(this.failure)?.requestId;
    }
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/throttle.js

/** So few left are spread: as many as two clients have under way at once, or as come back in a second. */
const minReserve = 32;
const reserveMs = 1_000;
/** Of a small quota, a part. */
const maxReserveShare = 1 / 4;
const maxSpacingMs = 5_000;
/** Between requests after a refusal, where nothing says how many would be taken. */
const blindSpacingMs = 200;
/** Multiplicative decrease of the pace with each refusal, and a slow return: the share of others is not known. */
const maxCaution = 4;
const cautionPerRefusal = 2;
const cautionPerAnswer = 0.97;
/** Those who were told the same time do not come back at the same moment. */
const spreadMs = 250;
function createThrottle(random) {
    let policy;
    /** What the last answer said, less what it may not have counted yet. What comes back meanwhile is not reckoned with. */
    let remaining;
    let pausedUntil = Number.NEGATIVE_INFINITY;
    let refusedUntil = Number.NEGATIVE_INFINITY;
    let refusedAt = Number.NEGATIVE_INFINITY;
    /** Of those that are refused together, which is one refusal, all draw the same. */
    let drawn = 0;
    let refusals = 0;
    let caution = 1;
    let lastSentAt = Number.NEGATIVE_INFINITY;
    let underWay = 0;
    /** Little remains: requests are spread so that what is used comes back meanwhile, the wider the less remains. */
    function spacingMs() {
        if (policy === undefined || remaining === undefined)
            return blindSpacingMs * (caution - 1);
        const { quota, windowMs } = policy;
        const perMs = quota / windowMs;
        const reserve = caution * Math.min(quota * maxReserveShare, Math.max(minReserve, perMs * reserveMs));
        if (remaining >= reserve)
            return 0;
        return Math.min(caution * maxSpacingMs, reserve / (perMs * Math.max(1, remaining)));
    }
    return {
        delayMs: (now) => Math.max(0, Math.max(refusedUntil, pausedUntil, lastSentAt + spacingMs()) - now),
        refusedUntil: () => refusedUntil,
        sent(now) {
            lastSentAt = now;
            underWay += 1;
            if (remaining !== undefined)
                remaining -= 1;
        },
        ended() {
            underWay -= 1;
        },
        served() {
            refusals = 0;
            caution = Math.max(1, caution * cautionPerAnswer);
        },
        saw(status, now) {
            policy = status.policy ?? policy;
            // The service may not have counted yet what is under way.
            remaining = status.remaining - underWay;
            const { resetMs = 0 } = status;
            pausedUntil = status.remaining === 0 && resetMs > 0 ? now + resetMs + random() * spreadMs : now;
        },
        refused(sentAt, retryAfterMs, now) {
            if (sentAt >= refusedAt) {
                refusedAt = now;
                refusals += 1;
                caution = Math.min(maxCaution, caution * cautionPerRefusal);
                drawn = random();
            }
            if (remaining !== undefined)
                remaining = Math.min(remaining, 0);
            refusedUntil = Math.max(refusedUntil, now + backoff(refusals, retryAfterMs, () => drawn));
            return refusedUntil - now;
        },
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/call.js










const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** RFC 9110 section 5.5. */
const unsendableHeader = (headers) => Object.keys(headers).find((name) => !fieldValue.test(headers[name] ?? ''));
const pathOf = (target) => target.replace(/\?.*$/s, '');
function createCall(parts) {
    const { baseUrl, clock, serverClock, random, sleep } = parts;
    const throttle = createThrottle(random);
    const admit = createAdmission({ ...parts, throttle });
    // All spellings of a secret take a while to make, and most requests have none of their own.
    const usualTexts = createServiceText(parts.secrets);
    /** The last answer that refused a request for the rate limit. */
    let limitedBy;
    const wireOf = ({ method, target, headers, body }) => ({
        method,
        target,
        headers: { ...parts.headers, ...(body && { 'content-type': 'application/json' }), ...headers },
        body: body === undefined ? null : JSON.stringify(body),
    });
    function heed(tried, texts, paced) {
        if (tried.kind !== 'answered')
            return;
        const { answer, sentAt } = tried;
        serverClock.saw(answer.headers);
        parts.onAnswer(answer, texts);
        const status = rateLimitIn(answer.headers, serverClock.now());
        if (status !== undefined)
            throttle.saw(status, clock());
        if (!paced)
            return;
        if (answer.status === 429)
            throttle.refused(sentAt, retryAfterOf(answer, serverClock.now()), clock());
        else
            throttle.served();
    }
    /** What an answer says of the limit counts before the next request gets the connection. */
    async function tryOnce(wire, context, paced, leave) {
        try {
            const tried = await parts.sendOnce(wire, context).finally(() => paced && throttle.ended());
            heed(tried, context.texts, paced);
            return tried;
        }
        finally {
            leave();
        }
    }
    async function run(request, { deadline }, limit) {
        const { attempts: most, answerDelayMs = 0 } = request;
        const wire = wireOf(request);
        const path = pathOf(request.target);
        const { secrets: ownSecrets = [] } = request;
        const texts = ownSecrets.length === 0 ? usualTexts : createServiceText([...parts.secrets, ...ownSecrets]);
        const retries = most === 'once' ? 0 : parts.retries;
        // To give back is never held up by what is still to be asked for.
        const paced = request.paced ?? request.method !== 'DELETE';
        let sentAt;
        let attempts = 0;
        let failed = 0;
        let counted = 0;
        let mayBeDone = request.keySentBefore === true;
        let last;
        const fail = (failure) => new ServiceError({ method: request.method, path, attempts }, failure);
        const context = () => ({ baseUrl, texts, serverNow: serverClock.now() });
        const refuse = (answer) => fail(refusalOf(answer, context()));
        const course = () => ({ texts, sentAt: sentAt ?? clock(), mayBeDone, fail, refuse });
        const giveUp = (failure) => ({ kind: 'given-up', error: fail(failure), ...course() });
        const unsendable = unsendableHeader(wire.headers);
        if (unsendable !== undefined) {
            return giveUp({
                kind: 'unsendable',
                why: `the header ${unsendable} would have characters that no header can have`,
            });
        }
        for (;;) {
            if (limit.ending() === 'aborted')
                return giveUp({ kind: 'aborted' });
            if (clock() >= deadline || limit.signal.aborted)
                return giveUp({ kind: 'deadline', last, retryAfterMs: undefined });
            const admission = await admit({ paced, deadline, signal: limit.signal });
            if (admission.kind === 'too-late') {
                const retryAfterMs = limitedBy?.retryAfterMs === undefined ? undefined : admission.delayMs;
                return giveUp({ kind: 'deadline', last: limitedBy, retryAfterMs });
            }
            const limited = (admission.kind === 'ended' && admission.limited) || undefined;
            if (limited)
                last ??= limitedBy;
            const tried = admission.kind === 'admitted'
                ? await tryOnce(wire, { texts, operation: limit, answerDelayMs }, paced, admission.leave)
                : endedBy(limit, undefined);
            sentAt ??= tried.sentAt;
            if (tried.sentAt !== undefined)
                attempts += 1;
            const judgement = judge(tried, context(), mayBeDone);
            if (judgement.kind === 'end')
                return { kind: 'answered', answer: judgement.answer, ...course() };
            const { failure } = judgement;
            mayBeDone ||= judgement.mayBeDone;
            if (judgement.kind === 'stop')
                return giveUp(failure.kind === 'deadline' ? { ...failure, last, limited } : failure);
            const { reason, retryAfterMs } = judgement;
            last = failure;
            failed += 1;
            if (reason === 'failed')
                counted += 1;
            if (counted > retries || (most === 'once' && mayBeDone))
                return giveUp(failure);
            // All that are paced wait for the limit together, where they are admitted.
            const waitsTogether = paced && reason === 'limited';
            if (waitsTogether && failure.kind === 'refused')
                limitedBy = failure;
            const delayMs = waitsTogether ? throttle.refusedUntil() - clock() : backoff(failed, retryAfterMs, random);
            const timeLeft = deadline - clock();
            if (delayMs >= timeLeft) {
                const asked = retryAfterMs !== undefined && retryAfterMs >= timeLeft ? retryAfterMs : undefined;
                return giveUp({ kind: 'deadline', last: failure, retryAfterMs: asked });
            }
            parts.onRetry({ method: request.method, path, attempts, delayMs, reason, why: fail(failure).message });
            if (!waitsTogether)
                await sleep(delayMs, limit.signal);
        }
    }
    return async (request, within) => {
        const outers = [parts.closed, ...(within.signal ? [within.signal] : [])].map(abortedBy);
        const limit = startTimeLimit(within.deadline - clock(), 'deadline', outers, parts.startTimer);
        try {
            return await run(request, within, limit);
        }
        finally {
            limit.lift();
        }
    };
}

// EXTERNAL MODULE: ./node_modules/@actions/http-client/lib/proxy.js
var proxy = __webpack_require__(783);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/connection.js



/** More would only wait for each other at the other end. */
const mostConnections = 16;
async function readBytes(message) {
    const chunks = [];
    let length = 0;
    for await (const chunk of message) {
        const bytes = chunk;
        chunks.push(bytes);
        length += bytes.length;
        // To leave the loop cuts the connection: the rest is never received.
        if (length > largestBody)
            return { bytes: Buffer.concat(chunks), tooLarge: true };
    }
    return { bytes: Buffer.concat(chunks), tooLarge: false };
}
/**
 * The agent that the toolkit's client has for a proxy. It is loaded where there is one, and so is TLS where it is spoken:
 * for a request without either, they would be half of the start.
 */
async function openTunnels(baseUrl, signal) {
    const { HttpClient } = await __webpack_require__.e(/* import() */ 779).then(__webpack_require__.bind(__webpack_require__, 779));
    const client = new HttpClient(undefined, [], {
        keepAlive: true,
        // A full pool of tunnels never gets all of its places back; how many there are at once is limited before.
        maxSockets: Number.POSITIVE_INFINITY,
    });
    const agent = client.getAgent(baseUrl.href);
    // A tunnel is asked for by a request of its own, which knows no limit unless it is given one.
    if ('proxyOptions' in agent && typeof agent.proxyOptions === 'object')
        Object.assign(agent.proxyOptions ?? {}, { signal });
    return agent;
}
/** Connections to one server: kept alive, and through the proxy that `https_proxy`, `http_proxy` and `no_proxy` name. */
function openConnection(baseUrl) {
    const isHttps = baseUrl.protocol === 'https:';
    const { Agent, request } = isHttps ? process.getBuiltinModule('node:https') : external_node_http_namespaceObject;
    const port = baseUrl.port === '' ? (isHttps ? 443 : 80) : Number(baseUrl.port);
    const throughProxy = Boolean((0,proxy/* getProxyUrl */.s)(baseUrl)?.hostname);
    const closing = new AbortController();
    const direct = new Agent({ keepAlive: true, maxSockets: mostConnections });
    let tunnels;
    async function agentToUse() {
        if (!throughProxy)
            return direct;
        tunnels ??= openTunnels(baseUrl, closing.signal);
        return tunnels;
    }
    return {
        async send({ method, target, headers, body }, signal) {
            const agent = await agentToUse();
            const message = await new Promise((resolve, reject) => {
                const options = {
                    // An IPv6 address has brackets in a URL alone.
                    host: throughProxy ? baseUrl.hostname : baseUrl.hostname.replace(/^\[(.*)\]$/, '$1'),
                    port,
                    path: target,
                    method,
                    headers,
                    agent,
                    signal,
                };
                request(options, resolve)
                    .on('error', reject)
                    .end(body ?? undefined);
            });
            const { statusCode = 0, headers: received } = message;
            const endIsUnsure = received['content-length'] === undefined && received['transfer-encoding'] === undefined;
            return { status: statusCode, headers: received, endIsUnsure, ...(await readBytes(message)) };
        },
        close() {
            closing.abort();
            direct.destroy();
        },
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/link-header.js
const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;
/** The targets of a Link header (RFC 8288) by their relations; of several with the same relation the first. */
function parseLinks(header) {
    const targets = new Map();
    // A target, and its parameters: texts in quotes among them can have commas and semicolons.
    for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^<>]*)>((?:[^,"<]|"[^"]*")*)/g)) {
        const [, quoted, plain] = relation.exec(parameters) ?? [];
        for (const name of (quoted ?? plain ?? '').toLowerCase().split(/\s+/)) {
            if (name !== '' && !targets.has(name))
                targets.set(name, target);
        }
    }
    return targets;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/deprecation.js


const deprecation_longest = 300;
/** RFC 9745 writes `@` and seconds since 1970; drafts of it wrote a date or `true`. */
function sinceOf(deprecation) {
    const seconds = /^@(\d{1,11})$/.exec(deprecation)?.[1];
    const ms = seconds === undefined ? Date.parse(deprecation) : Number(seconds) * 1_000;
    return Number.isNaN(ms) ? '' : ` since ${new Date(ms).toISOString().slice(0, 10)}`;
}
/** What the headers Deprecation (RFC 9745) and Sunset (RFC 8594) say, as a sentence. */
function deprecationIn(answer, texts) {
    const deprecation = headerOf(answer, 'deprecation');
    const sunset = headerOf(answer, 'sunset');
    if (deprecation === undefined && sunset === undefined)
        return undefined;
    const outdated = deprecation === undefined ? '' : ` is deprecated${sinceOf(deprecation)}`;
    const ending = sunset === undefined ? '' : ` ends on ${sunset}`;
    const links = parseLinks(headerOf(answer, 'link'));
    const more = links.get('deprecation') ?? links.get('sunset');
    const what = [outdated, ending].filter((part) => part !== '').join(' and');
    return texts.line(`The service says that this interface${what}.${more === undefined ? '' : ` See ${more}`}`, deprecation_longest);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/next-page.js




const looksLikeAddress = (text) => /^(https?:\/\/|[/?])/i.test(text);
/** `next` is an address to some and a cursor to others. */
function hintIn(body) {
    const cursor = (0,json/* firstName */.u$)(body, ['next_cursor', 'nextCursor']);
    if (cursor !== undefined)
        return { kind: 'cursor', text: cursor };
    const next = (0,json/* firstName */.u$)(body, ['next']) ?? (0,json/* firstName */.u$)((0,json/* asObject */.eB)(body['next']), ['href', 'url']);
    if (next === undefined)
        return undefined;
    return { kind: looksLikeAddress(next) ? 'address' : 'cursor', text: next };
}
function hintOf(answer) {
    const linked = parseLinks(headerOf(answer, 'link')).get('next');
    if (linked !== undefined)
        return { kind: 'address', text: linked };
    const body = objectIn(answer);
    if (body['has_more'] === false || body['hasMore'] === false)
        return undefined;
    const places = [body, ...['pagination', 'paging', 'meta', 'links', '_links'].map((name) => (0,json/* asObject */.eB)(body[name]))];
    return places.map(hintIn).find((hint) => hint !== undefined);
}
function withCursor(target, cursor) {
    const [path = '', query = ''] = target.split(/\?(.*)/s);
    const parameters = new URLSearchParams(query);
    parameters.set('cursor', cursor);
    return `${path}?${parameters}`;
}
/** Where the list goes on that this answer is a page of, if it does; never on another server. */
function nextPage(answer, target, baseUrl) {
    const hint = hintOf(answer);
    if (hint === undefined)
        return { kind: 'none' };
    if (hint.kind === 'cursor')
        return { kind: 'page', target: withCursor(target, hint.text) };
    const followed = follow(hint.text, target, baseUrl);
    switch (followed.kind) {
        case 'target':
            return { kind: 'page', target: followed.target };
        case 'elsewhere':
            return followed;
        case 'not-an-address':
            return { kind: 'page', target: withCursor(target, hint.text) };
    }
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/pages.js




const mostPages = 1_000;
/** As JSON: read, it takes many times the room. A workspace of our service has at most a fifth as many locks. */
const maxListBytes = 64 * 1_024 * 1_024;
const maxEntries = 1_000_000;
/** An array, or an object that has it under the name of what is listed or one of the common names. */
function entriesOf(body, name) {
    if ((0,json/* isArray */.cy)(body))
        return body;
    if (!(0,json/* isObject */.Gv)(body))
        return undefined;
    const found = [name, 'items', 'data', 'results'].map((each) => body[each]).find((each) => (0,json/* isArray */.cy)(each));
    if ((0,json/* isArray */.cy)(found))
        return found;
    const inner = body['data'];
    return (0,json/* isObject */.Gv)(inner) ? entriesOf(inner, name) : undefined;
}
function readEntries(course, name) {
    const { answer, texts } = course;
    const wrong = unusable(answer, texts);
    if (wrong !== undefined)
        throw course.fail(wrong);
    const entries = answer.body.kind === 'json' ? entriesOf(answer.body.value, name) : undefined;
    if (entries !== undefined)
        return entries;
    const found = Object.keys(objectIn(answer)).join(', ');
    throw course.fail({
        kind: 'not-understood',
        status: answer.status,
        requestId: requestIdOf(answer, texts),
        why: `there is no list in it, neither bare nor as ${name}, items, data or results`,
        excerpt: texts.line(found === '' ? '' : `an object with ${found}`, 200),
    });
}
/** Reads a list page by page, and each of its entries. */
async function readPages({ call, baseUrl }, { target: firstTarget, plainTarget, name }, readEntry, within) {
    const items = [];
    const seen = new Set();
    let unread = 0;
    let bytes = 0;
    let before = [];
    const list = (why) => {
        const skipped = unread === 0 ? undefined : `${unread} of its entries could not be read`;
        const reasons = [why, skipped].filter((reason) => reason !== undefined);
        return {
            items,
            incomplete: reasons.length === 0 ? undefined : `The list of ${name} may not be whole: ${reasons.join('; ')}.`,
        };
    };
    async function ask(target) {
        const outcome = await call({ method: 'GET', target }, within);
        if (outcome.kind === 'given-up')
            throw outcome.error;
        return outcome;
    }
    let target = firstTarget;
    for (let page = 1;; page += 1) {
        seen.add(target);
        let course = await ask(target);
        if (page === 1 && plainTarget !== undefined && [400, 422].includes(course.answer.status)) {
            target = plainTarget;
            seen.add(target);
            course = await ask(target);
        }
        const { answer, texts } = course;
        if (!isSuccess(answer))
            throw course.refuse(answer);
        const entries = readEntries(course, name);
        const next = nextPage(answer, target, baseUrl);
        const goesRound = next.kind === 'page' && seen.has(next.target);
        // A service that does not know cursors gives its first page again and again.
        if (goesRound && JSON.stringify(entries) === JSON.stringify(before)) {
            return list('the service gives the same page again');
        }
        before = entries;
        bytes += answer.body.kind === 'json' ? answer.body.byteLength : 0;
        // Of a page that is too much nothing is taken: what it would take is what the limit is about.
        if (bytes > maxListBytes)
            return list('its pages have more than 64 MB together');
        if (items.length + unread + entries.length > maxEntries)
            return list(`it has more than ${maxEntries} entries`);
        for (const entry of entries) {
            const item = readEntry(entry, texts);
            if (item === undefined)
                unread += 1;
            else
                items.push(item);
        }
        if (next.kind === 'none')
            return list(undefined);
        if (next.kind === 'elsewhere')
            throw course.fail(leadsElsewhere(course, next.origin));
        if (goesRound)
            return list('the service names a page as the next that was there before');
        if (page === mostPages)
            return list(`it has more than ${mostPages} pages`);
        target = next.target;
    }
}
function leadsElsewhere({ answer, texts }, origin) {
    return {
        kind: 'not-understood',
        status: answer.status,
        requestId: requestIdOf(answer, texts),
        why: texts.line(`its next page is at ${origin}, which is another server, and the token must not go there`, 300),
        excerpt: '',
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/list-locks.js


const pageSize = 1_000;
const createListLocks = (pages, addresses) => async ({ workspace, filter = {} }, within) => {
    const { path, prefix } = filter;
    const plainTarget = addresses.locks(workspace);
    const query = new URLSearchParams({
        ...(path !== undefined && { path }),
        ...(prefix !== undefined && { prefix }),
        limit: String(pageSize),
    });
    const listing = { target: `${plainTarget}?${query}`, plainTarget, name: 'locks' };
    const { items, incomplete } = await readPages(pages, listing, readListedLock, within);
    // A service that knows no such parameters has listed all of them.
    const wanted = (lock) => (path === undefined || lock.path === path) &&
        (prefix === undefined || lock.path.startsWith(prefix.normalize('NFC')));
    return { items: items.filter(wanted), incomplete };
};

;// CONCATENATED MODULE: ./build/bundle/compiled/client/named-entry.js


/** Reads entries that are bare names, or objects that have their name under one of these. */
const readNamed = (names) => (entry) => {
    const name = typeof entry === 'string' ? entry : (0,json/* firstName */.u$)((0,json/* asObject */.eB)(entry), names);
    if (name === undefined || name === '')
        return undefined;
    return { name: plainName(name), raw: (0,json/* asObject */.eB)(entry) };
};
const readWorkspace = readNamed(['id', 'workspace_id', 'workspaceId', 'name', 'slug']);
const readBranch = readNamed(['name', 'branch', 'ref', 'id']);

;// CONCATENATED MODULE: ./build/bundle/compiled/client/register-hook.js




const textsIn = (object) => Object.values(object).filter((value) => typeof value === 'string');
/** What no error may repeat: the secret, and the values of headers, which are there for credentials. */
const secretsIn = (body) => [
    ...textsIn({ secret: body['secret'] ?? null }),
    ...textsIn((0,json/* asObject */.eB)(body['headers'])),
];
const createRegisterHook = (call, addresses) => async ({ workspace, url, events, secret, options = {} }, within) => {
    const body = { ...options, url, ...(events && { events }), ...(secret !== undefined && { secret }) };
    const outcome = await call({
        method: 'POST',
        target: addresses.hooks(workspace),
        headers: { 'idempotency-key': crypto.randomUUID() },
        body,
        secrets: secretsIn(body),
    }, within);
    if (outcome.kind === 'given-up')
        throw outcome.error;
    const { answer, texts } = outcome;
    if (!isSuccess(answer))
        throw outcome.refuse(answer);
    const wrong = unusableThoughOptional(answer, texts);
    if (wrong !== undefined)
        throw outcome.fail(wrong);
    const said = objectIn(answer);
    const hook = [said['hook'], said['webhook'], said['data']].find(json/* isObject */.Gv) ?? said;
    const id = (0,json/* firstName */.u$)(hook, ['id', 'hook_id', 'hookId', 'webhook_id']);
    const madeSecret = body.secret === undefined ? (0,json/* nameIn */.ZC)(hook['secret']) : undefined;
    return {
        hook_id: id === undefined ? undefined : plainName(id),
        replaced: answer.status === 200,
        madeSecret,
    };
};

;// CONCATENATED MODULE: ./build/bundle/compiled/client/own-error.js



/** What is said where an address is not known, which says nothing about a lock. */
const ofNoRoute = [
    /^(4\d\d )?(not found|bad request|method not allowed|(request-)?uri too (long|large))\.?$/i,
    /^(the )?(requested )?(page|resource|route|url|uri|endpoint)\b.*\b(not found|not exist|doesn't exist|not available)\b/i,
    /^no (matching )?route\b/i,
    /^cannot [a-z]+ \//i,
];
/**
 * Whether the API itself has answered with an error, and not something on the way to it: an API says in JSON what is
 * wrong. A request id in a header is no sign of it, because proxies give one too.
 */
function isOwnError(answer) {
    const body = objectIn(answer);
    if ((0,json/* nameIn */.ZC)(body['request_id']) !== undefined)
        return true;
    const said = rawWordsOf(body)?.split(': ') ?? [];
    return said.some((words) => !ofNoRoute.some((pattern) => pattern.test(words.trim())));
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/release-lock.js




const conditionOf = (proof) => proof?.etag ?? (proof?.id === undefined ? undefined : `"${proof.id}"`);
const mayBeOfAProxy = new Set([400, 404, 405, 414]);
function createReleaseLock({ call, addresses, clock, serverNow }) {
    /** How slashes are known to arrive, once one way has been refused and the other was not. */
    let slashes = 'encoded';
    function send(request, condition, how, within) {
        const { workspace, path, force = false, attempts } = request;
        return call({
            method: 'DELETE',
            target: addresses.lock(workspace, path, how) + (force ? '?force=true' : ''),
            headers: { ...(condition !== undefined && { 'if-match': condition }) },
            attempts,
        }, within);
    }
    /** Once more with raw slashes, when the encoded ones were refused on the way. */
    async function sendEitherWay(request, condition, within) {
        const outcome = await send(request, condition, slashes, within);
        if (slashes === 'raw' || !request.path.includes('/'))
            return outcome;
        if (outcome.kind === 'given-up' || !isRefusedOnTheWay(outcome.answer))
            return outcome;
        const again = await send(request, condition, 'raw', within);
        if (again.kind === 'answered' && (isSuccess(again.answer) || isOwnError(again.answer)))
            slashes = 'raw';
        return { ...again, mayBeDone: again.mayBeDone || outcome.mayBeDone };
    }
    /** Whether the lock was taken after our request set out, so that ours was released by it. */
    function cameLater({ sentAt }, holder) {
        if (holder?.acquired_at === undefined)
            return false;
        return Date.parse(holder.acquired_at) >= serverNow() - (clock() - sentAt);
    }
    function lostOrReleased(course, path) {
        const { answer, texts, mayBeDone } = course;
        const told = holderIn(answer);
        const holder = told && readLock(told, path, texts);
        if (mayBeDone && cameLater(course, holder))
            return { kind: 'released' };
        return { kind: 'lost', holder, error: course.refuse(answer) };
    }
    function judge(course, path) {
        const { answer, texts, mayBeDone } = course;
        if (isSuccess(answer)) {
            const wrong = unusableThoughOptional(answer, texts);
            return wrong === undefined ? { kind: 'released' } : { kind: 'failed', error: course.fail(wrong) };
        }
        switch (answer.status) {
            case 404:
            case 410:
                // An earlier attempt, of which no answer was seen, has done it.
                return { kind: mayBeDone ? 'released' : 'absent' };
            case 412:
                return lostOrReleased(course, path);
            default:
                return { kind: 'failed', error: course.refuse(answer) };
        }
    }
    return async (request, within) => {
        const { proof, path } = request;
        const outcome = await sendEitherWay(request, conditionOf(proof), within);
        if (outcome.kind === 'given-up')
            return { kind: 'failed', error: outcome.error };
        if (!isStillThatLock(outcome, request))
            return judge(outcome, path);
        const etag = tagIn(outcome, path);
        if (etag === undefined || etag === conditionOf(proof)) {
            return { kind: 'failed', error: outcome.refuse(outcome.answer) };
        }
        const again = await sendEitherWay(request, etag, within);
        return again.kind === 'answered' ? judge(again, path) : { kind: 'failed', error: again.error };
    };
}
/** A 412 about the lock with the very id that is meant: the service knows it by another tag than was sent. */
function isStillThatLock({ answer, texts }, { path, proof }) {
    if (answer.status !== 412 || proof?.id === undefined)
        return false;
    const there = holderIn(answer);
    return there !== undefined && readLock(there, path, texts).id === proof.id;
}
const tagIn = ({ answer, texts }, path) => etagOf(answer) ?? readLock(holderIn(answer) ?? {}, path, texts).etag;
const isRefusedOnTheWay = (answer) => mayBeOfAProxy.has(answer.status) && !isOwnError(answer);

;// CONCATENATED MODULE: ./build/bundle/compiled/client/server-clock.js

const startedAt = Date.now() - process.uptime() * 1_000;
/** Does not jump when somebody sets the clock of the machine. `performance` does not either, and takes longer to load. */
const steadyClock = () => startedAt + process.uptime() * 1_000;
/**
 * When the answer was made, by the clock of the server: RFC 9110 section 6.6.1, and 9111 section 5.1 for a cache's. A
 * time that no timestamp can tell is none: what is reckoned from it could not be written down.
 */
function dateOf(headers) {
    const date = Date.parse(headers.date ?? '');
    if (Number.isNaN(date))
        return undefined;
    const [age = '0'] = /^\d{1,9}$/.exec(headers.age ?? '') ?? [];
    const told = date + Number(age) * 1_000;
    return timestamp(told) === undefined ? undefined : told;
}
/** The clock of the server, as its last answer told; that of this machine until there was one. */
function createServerClock(clock) {
    let ahead = 0;
    return {
        now: () => clock() + ahead,
        saw: (headers) => {
            const date = dateOf(headers);
            if (date !== undefined)
                ahead = date - clock();
        },
    };
}

// EXTERNAL MODULE: external "node:timers/promises"
var promises_ = __webpack_require__(500);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/sleep.js


/** Ends early, without an error, when the signal is aborted. */
async function sleep(ms, signal) {
    for (let left = ms; left > 0 && !signal.aborted; left -= longestTimer) {
        await (0,promises_.setTimeout)(Math.min(left, longestTimer), undefined, { signal }).catch(() => undefined);
    }
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/sync-state.js

const good = new Set(['succeeded', 'success', 'successful', 'synced', 'up_to_date', 'passed', 'ok']);
/** It has ended; how, something else may say. */
const over = new Set(['completed', 'complete', 'done', 'finished', 'ended', 'closed']);
const bad = new Set([
    'failed',
    'failure',
    'fail',
    'error',
    'errored',
    'cancelled',
    'canceled',
    'aborted',
    'rejected',
    'timed_out',
    'timeout',
    'timedout',
    'expired',
    'completed_with_errors',
]);
const normal = (word) => word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
const saysFailed = (body) => {
    const conclusion = (0,json/* firstName */.u$)(body, ['conclusion', 'result', 'outcome']);
    if (conclusion !== undefined && bad.has(normal(conclusion)))
        return true;
    const { error, success } = body;
    return success === false || (typeof error === 'string' && error !== '') || Object.keys((0,json/* asObject */.eB)(error)).length > 0;
};
function syncStateOf(status, body) {
    const word = normal(status);
    if (bad.has(word))
        return 'failed';
    if (good.has(word))
        return 'succeeded';
    if (!over.has(word))
        return 'going-on';
    return saysFailed(body) ? 'failed' : 'succeeded';
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/sync.js







const longestWord = 64;
const longestError = 500;
const countIn = (body, names) => {
    const count = (0,json/* firstMember */.PE)(body, names);
    return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
};
function errorIn(body, texts) {
    const words = rawWordsOf({ error: body['error'] ?? null }) ?? (0,json/* firstName */.u$)(body, ['error_message', 'failure_reason']);
    return words === undefined ? undefined : (0,json/* nameIn */.ZC)(texts.line(words, longestError));
}
function readSync(body, texts) {
    const name = (names) => {
        const text = (0,json/* firstName */.u$)(body, names);
        return text === undefined ? undefined : plainName(text);
    };
    const status = texts.line((0,json/* firstName */.u$)(body, ['status', 'state']) ?? 'unknown', longestWord);
    return {
        sync_id: name(['sync_id', 'syncId', 'id']),
        status,
        state: syncStateOf(status, body),
        branch: name(['branch']),
        estimated_objects: countIn(body, ['estimated_objects', 'estimatedObjects']),
        received_objects: countIn(body, ['received_objects', 'receivedObjects']),
        head: name(['head', 'commit', 'revision']),
        error: errorIn(body, texts),
        raw: body,
    };
}
const syncIn = (answer) => {
    const body = objectIn(answer);
    return [body['sync'], body['data']].find(json/* isObject */.Gv) ?? body;
};
function createSync({ call, addresses, baseUrl, serverNow }) {
    function reportOf(outcome) {
        if (outcome.kind === 'given-up')
            throw outcome.error;
        const { answer, texts } = outcome;
        if (!isSuccess(answer))
            throw outcome.refuse(answer);
        const wrong = unusable(answer, texts);
        if (wrong !== undefined)
            throw outcome.fail(wrong);
        const body = syncIn(answer);
        if (Object.keys(body).length === 0) {
            const requestId = requestIdOf(answer, texts);
            throw outcome.fail({
                kind: 'not-understood',
                status: answer.status,
                requestId,
                why: 'there is no sync in it',
                excerpt: '',
            });
        }
        const report = { ...readSync(body, texts), retryAfterMs: retryAfterOf(answer, serverNow()) };
        return { report, answer, texts };
    }
    function progressOf(answer, from, texts) {
        const named = [headerOf(answer, 'location'), (0,json/* firstName */.u$)(syncIn(answer), ['status_url', 'statusUrl'])];
        const followed = named.filter((address) => address !== undefined).map((address) => follow(address, from, baseUrl));
        const target = followed.find((each) => each.kind === 'target');
        // A brand cannot be computed: this is the one place that gives it, to an address on the same server.
        if (target !== undefined)
            return { kind: 'offered', address: target.target };
        const elsewhere = followed.find((each) => each.kind === 'elsewhere');
        if (elsewhere === undefined)
            return { kind: 'none', why: 'The service names no address where the sync can be followed.' };
        const origin = texts.line(elsewhere.origin, 300);
        return {
            kind: 'none',
            why: `The sync can be followed at ${origin} only, which is another server: the token must not go there.`,
        };
    }
    return {
        async startSync({ workspace, branch }, within) {
            const target = addresses.sync(workspace);
            const headers = { 'idempotency-key': crypto.randomUUID() };
            const { report, answer, texts } = reportOf(await call({ method: 'POST', target, headers, body: { branch } }, within));
            return { ...report, progress: progressOf(answer, target, texts) };
        },
        /** A look that is the last does not wait for a limit that is longer than the wait: `paced` is false. */
        async syncStatus(address, within, { paced = true } = {}) {
            return reportOf(await call({ method: 'GET', target: address, paced }, within)).report;
        },
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/wait-for-release.js



/** RFC 7240 section 3: `wait` is among what the service says it has heeded. */
const waited = (applied) => /(^|[,;\s])wait($|[=,;\s])/i.test(applied ?? '');
/** Asks the service to answer when a path comes free, or when the time is over (RFC 7240, `Prefer: wait`). */
const createWaitForRelease = (call, addresses) => async ({ workspace, path, seconds }, within) => {
    const outcome = await call({
        method: 'GET',
        target: `${addresses.locks(workspace)}?${new URLSearchParams({ path })}`,
        headers: { prefer: `wait=${seconds}` },
        attempts: 'once',
        answerDelayMs: seconds * 1_000,
    }, within);
    if (outcome.kind === 'given-up')
        return { kind: 'failed' };
    const { answer, texts } = outcome;
    const entries = answer.body.kind === 'json' ? entriesOf(answer.body.value, 'locks') : undefined;
    if (!isSuccess(answer) || !waited(headerOf(answer, 'preference-applied')) || entries === undefined) {
        return { kind: 'unsupported' };
    }
    const holder = entries.map((entry) => readListedLock(entry, texts)).find((lock) => lock?.path === path);
    return holder === undefined ? { kind: 'free' } : { kind: 'held', holder };
};

;// CONCATENATED MODULE: ./build/bundle/compiled/client/client.js



















function onceOnly(warn) {
    let warned = false;
    return (answer, texts) => {
        const sentence = warned ? undefined : deprecationIn(answer, texts);
        if (sentence === undefined)
            return;
        warned = true;
        warn(sentence);
    };
}
/** The interface over HTTP. It does as much at once as there are connections, and what is more waits its turn. */
function createClient(options) {
    const { requestTimeoutMs = 30_000, clock = steadyClock, onWarning = () => undefined } = options;
    const baseUrl = new URL(options.baseUrl);
    const addresses = addressesBelow(baseUrl);
    const serverClock = createServerClock(clock);
    const serverNow = serverClock.now;
    const connection = openConnection(baseUrl);
    const closing = new AbortController();
    const call = createCall({
        baseUrl,
        clock,
        serverClock,
        sendOnce: createSendOnce({ connection, clock, timeoutMs: requestTimeoutMs }),
        maxConnections: mostConnections,
        retries: options.retries ?? 4,
        secrets: [options.token],
        headers: {
            authorization: `Bearer ${options.token}`,
            accept: 'application/json, application/problem+json',
            'accept-encoding': 'identity',
            'user-agent': options.userAgent,
            ...(options.origin !== undefined && { referer: options.origin }),
        },
        sleep: options.sleep ?? sleep,
        random: options.random ?? Math.random,
        closed: closing.signal,
        onAnswer: onceOnly(onWarning),
        onRetry: options.onRetry ?? (() => undefined),
        onPaced: options.onPaced ?? (() => undefined),
    });
    const pages = { call, baseUrl };
    return {
        /** Throws a ServiceError, as all operations do but those on single locks. */
        listWorkspaces: (within) => readPages(pages, { target: addresses.workspaces, name: 'workspaces' }, readWorkspace, within),
        listBranches: ({ workspace }, within) => readPages(pages, { target: addresses.branches(workspace), name: 'branches' }, readBranch, within),
        ...createSync({ call, addresses, baseUrl, serverNow }),
        listLocks: createListLocks(pages, addresses),
        acquireLock: createAcquireLock({ call, addresses, clock, serverNow }),
        releaseLock: createReleaseLock({ call, addresses, clock, serverNow }),
        /** Never fails: who cannot wait so looks again now and then. */
        waitForRelease: createWaitForRelease(call, addresses),
        registerHook: createRegisterHook(call, addresses),
        /** By the clock of the server, as its last answer told it. */
        serverNow,
        /** Ends whatever is under way, and closes the connections. */
        dispose() {
            closing.abort();
            connection.close();
        },
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/report/words.js
var words = __webpack_require__(46);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/version.js
/** Sent as User-Agent. A test holds it to package.json. */
const version = '0.1.0';

;// CONCATENATED MODULE: ./build/bundle/compiled/action/connect.js




/** A service in trouble would fill the log of a step with many requests. */
const mostRetriesTold = 10;
/** All requests wait for a rate limit together: the first of them is told, whatever number of others it meets. */
const limitedText = 'Requests are limited: what is left to do goes on as fast as they are taken.';
/** Tells what is tried again, and not more often than a person wants to read it. */
function tellRetries(log) {
    let told = 0;
    let limited = false;
    return ({ why, delayMs, reason }) => {
        const text = `${why} Trying again in ${(0,words/* duration */.p0)(delayMs)}.`;
        if (reason === 'limited') {
            if (limited) {
                log.debug(text);
                return;
            }
            limited = true;
            log.line(text);
            log.line(limitedText);
            return;
        }
        if (told < mostRetriesTold)
            log.line(text);
        else
            log.debug(text);
        told += 1;
        if (told === mostRetriesTold)
            log.line('What is tried again from here on is in the debug log only.');
    };
}
/** The next requests are spread before any is refused. Short pauses are no news. */
const longPauseMs = 1_000;
function tellPace(log) {
    let told = false;
    return (delayMs) => {
        if (told || delayMs < longPauseMs)
            return;
        told = true;
        log.line(limitedText);
    };
}
/** The client as a step uses it: it says what it retries, and where its requests come from. */
const connect = ({ baseUrl, token, requestTimeout, retries }, origin, log) => createClient({
    baseUrl,
    token,
    retries,
    requestTimeoutMs: (0,duration/* milliseconds */.Rz)(requestTimeout),
    userAgent: `workspace-automation/${version}`,
    ...(origin !== undefined && { origin }),
    onWarning: log.warn,
    onRetry: tellRetries(log),
    onPaced: tellPace(log),
});

;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/recorder.js
/** Writes to the ledger; when that fails, says so once and goes on: a lock that is wanted is not given up for it. */
function createRecorder(ledger, log) {
    let failed = false;
    return (entry) => {
        try {
            ledger.append(entry);
        }
        catch (error) {
            if (failed)
                return;
            failed = true;
            const why = error instanceof Error ? error.message : String(error);
            log.warn(`The ledger of this job's locks cannot be written (${why}). If a step is killed before it is done, the locks it was about to take or release can stay until their ttl ends.`);
        }
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/entry.js + 1 modules
var entry = __webpack_require__(818);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/past-moment.js
var past_moment = __webpack_require__(647);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/ownership.js

/** Answers are a moment on their way, too. */
const clockSlackMs = 2 * past_moment/* answerClockMs */.J;
const differ = (one, other) => one !== undefined && other !== undefined && one !== other;
const msBetween = (one, other) => one === undefined || other === undefined ? Number.NaN : Date.parse(other) - Date.parse(one);
const isWholeSecond = (time) => Date.parse(time ?? '') % 1_000 === 0;
/** A service may give its answers and its lists times of different precision: one that was cut or rounded tells less. */
function areDifferentMoments(one, other) {
    const ms = Math.abs(msBetween(one, other));
    return ms >= 1_000 || (ms > 0 && !isWholeSecond(one) && !isWholeSecond(other));
}
/** Something that both tell is different, or it was taken after ours. */
const isAnother = (own, listed) => differ(own.id, listed.id) ||
    differ(own.owner, listed.owner) ||
    areDifferentMoments(own.acquired_at, listed.acquired_at) ||
    msBetween(own.grantedAt, listed.acquired_at) > clockSlackMs;
/** The same owner may have taken the path twice; only the id and the time tell. */
const isSame = (own, listed) => (own.id !== undefined && own.id === listed.id) || msBetween(own.acquired_at, listed.acquired_at) === 0;
function compare(own, listed) {
    if (isAnother(own, listed))
        return { kind: 'lost', holder: listed };
    return isSame(own, listed) ? { kind: 'ours' } : { kind: 'unknown' };
}
/** What the service's list says of a lock. */
async function ownershipByList(client, place, own, within) {
    const { workspace, path } = place;
    const { items, incomplete } = await client.listLocks({ workspace, filter: { path } }, within);
    const [listed] = items;
    if (listed !== undefined)
        return compare(own, listed);
    return { kind: incomplete === undefined ? 'gone' : 'unknown' };
}
/** Whether its lifetime has ended, or is about to. A lock of which no end is known may have ended. */
function isOver({ expires_at = '' }, serverNow) {
    const end = Date.parse(expires_at);
    return !(end > serverNow + clockSlackMs);
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/passing.js
var passing = __webpack_require__(379);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/release-one.js



const isProven = ({ etag, id }) => etag !== undefined || id !== undefined;
const firstPauseMs = 500;
const longestPauseMs = 5_000;
const never = new AbortController().signal;
/** A service may let a token take and release locks and not list them. */
const refusesLists = ({ status = 0 }) => [403, 404, 405, 501].includes(status);
/** The service may have done what it gave no good answer to. */
function mayBeDone({ failure, status, attempts }) {
    if (failure.kind === 'connection')
        return failure.mayHaveArrived;
    // Of the attempt that the deadline has cut off nothing is known; the status is that of the one before it.
    if (failure.kind === 'deadline')
        return attempts > 0;
    return status === undefined || status >= 500 || (status >= 200 && status < 300);
}
/**
 * Without an ETag or an id a release says only of which path it is. So each one is sent once, and only after a look at
 * what is there: what was on its way and got lost may have released the lock, and the path may be somebody else's now.
 */
async function releaseUnproven(parts, asked, within) {
    const { client, clock, sleep, random } = parts;
    const { workspace, path, lock, doubtful = false, force } = asked;
    let sent = false;
    async function look() {
        try {
            return await ownershipByList(client, asked, lock, within);
        }
        catch (error) {
            if (!(error instanceof ServiceError))
                throw error;
            return refusesLists(error) ? { kind: 'unknown' } : error;
        }
    }
    for (let failed = 1;; failed += 1) {
        const found = await look();
        if (found instanceof ServiceError)
            return { kind: 'failed', error: found };
        if (found.kind === 'lost')
            return sent ? { kind: 'released' } : found;
        const unsure = doubtful || sent || isOver(lock, client.serverNow());
        if (found.kind === 'gone' && unsure)
            return { kind: sent ? 'released' : 'absent' };
        if (found.kind === 'unknown' && unsure)
            return { kind: 'left-alone' };
        const release = await client.releaseLock({ workspace, path, force, attempts: 'once' }, within);
        if (release.kind !== 'failed')
            return release.kind === 'absent' && sent ? { kind: 'released' } : release;
        const { error } = release;
        sent ||= mayBeDone(error);
        const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failed) * (0.5 + random() / 2);
        if (!(0,passing/* isPassing */.W)(error) || clock() + pauseMs >= within.deadline)
            return release;
        await sleep(pauseMs, within.signal ?? never);
    }
}
/** Releases a lock if it is ours: with its ETag where there is one, else after a look at the list. */
async function releaseOne(parts, asked, within) {
    const { workspace, path, lock, force } = asked;
    if (isProven(lock))
        return parts.client.releaseLock({ workspace, path, proof: lock, force }, within);
    return releaseUnproven(parts, asked, within);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/keeper.js




function grantedLock(taken, ttl, serverNow) {
    const { path, type, id, etag, owner, acquired_at, fence, expires_at } = taken;
    const end = expires_at ?? new Date(serverNow + ttl.seconds * 1_000).toISOString();
    return { path, type, id, etag, owner, acquired_at, fence, expires_at: end };
}
/** Answers are a moment on their way, too. */
const keeper_clockSlackMs = 2 * past_moment/* answerClockMs */.J;
function createKeeper(parts, record) {
    const { client, clock, step, origin } = parts;
    /** When this process first asked for a path, and when with a key. */
    const firstAsked = new Map();
    const askedWith = new Map();
    const now = () => new Date(client.serverNow()).toISOString();
    /** When it was asked for, by the clock of the service. */
    function askedAt({ key, at, byService }) {
        const here = askedWith.get(key);
        if (here !== undefined)
            return client.serverNow() - (clock() - here);
        return byService ? Date.parse(at) : Number.NaN;
    }
    /** Whether the lock that is in the way can be the one that we have asked for, as far as it tells. */
    function canBeOurs(holder, intent) {
        if (holder?.origin !== undefined && origin !== undefined && holder.origin !== origin)
            return false;
        // Where one of the times is not known, the comparison is false.
        return !(Date.parse(holder?.acquired_at ?? '') < askedAt(intent) - keeper_clockSlackMs);
    }
    /** Whether a request that was sent before has got its lock only now. */
    function isAnew(lock, replayed, sentAt) {
        if (replayed)
            return false;
        const acquired = Date.parse(lock.acquired_at ?? '');
        return Number.isNaN(acquired) ? undefined : acquired >= client.serverNow() - (clock() - sentAt) - keeper_clockSlackMs;
    }
    return {
        async ask(intent, keySentBefore, within) {
            const { service, key, type } = intent;
            const { workspace, path } = (0,entry/* addressIn */._Q)(intent);
            const ttl = (0,entry/* ttlIn */.eg)(intent);
            if (!firstAsked.has(path))
                firstAsked.set(path, clock());
            if (!keySentBefore)
                askedWith.set(key, clock());
            const sentAt = clock();
            const acquisition = await client.acquireLock({ workspace, path, type, ttl, idempotencyKey: key, keySentBefore }, within);
            const place = { service, workspace, path, step, key };
            switch (acquisition.kind) {
                case 'acquired': {
                    const lock = grantedLock(acquisition.lock, ttl, client.serverNow());
                    const waitedMs = Math.round(clock() - (firstAsked.get(path) ?? clock()));
                    const grant = { kind: 'granted', ...place, waitedMs, lock, at: now() };
                    record(grant);
                    const anew = !keySentBefore || isAnew(acquisition.lock, acquisition.replayed, sentAt);
                    return { kind: 'taken', grant, anew };
                }
                case 'held': {
                    const { holder, retryAfterMs, error, mayBeOurs } = acquisition;
                    const holding = { path, holder, retryAfterMs, error };
                    // A service that knows no keys takes a repetition for another request, and refuses it because of the first.
                    if (mayBeOurs && canBeOurs(holder, intent))
                        return { kind: 'unclear', intent, error, holding };
                    record({ kind: 'denied', ...place, at: now() });
                    return { kind: 'held', ...holding };
                }
                case 'unclear':
                    return { kind: 'unclear', intent, error: acquisition.error, holding: undefined };
                case 'failed':
                    record({ kind: 'denied', ...place, at: now() });
                    return { kind: 'failed', error: acquisition.error };
            }
        },
        async giveBack(grant, within, doubtful) {
            const { service, lock, at } = grant;
            const { workspace, path } = (0,entry/* addressIn */._Q)(grant);
            const what = { service, workspace, path, id: lock.id, etag: lock.etag };
            record({ kind: 'releasing', ...what, at: now() });
            const release = await releaseOne(parts, { workspace, path, lock: { ...lock, grantedAt: at }, doubtful }, within);
            if (release.kind !== 'failed' && release.kind !== 'left-alone') {
                record({ kind: 'ended', ...what, how: release.kind, at: now() });
            }
            return release;
        },
    };
}
/** Asks for new locks: the intent of each is in the ledger before its request is sent. */
function createTaker({ client, step, announce }, record, keeper, { service, workspace, type, ttl }) {
    let announced = false;
    let answered = false;
    return async (path, within) => {
        const intent = {
            kind: 'intent',
            service,
            workspace,
            path,
            step,
            key: crypto.randomUUID(),
            type,
            ttl: formatDuration(ttl),
            at: new Date(client.serverNow()).toISOString(),
            byService: answered,
        };
        record(intent);
        // After the first line of the ledger, so that who reads it finds one.
        if (!announced)
            announce();
        announced = true;
        const taking = await keeper.ask(intent, false, within);
        answered ||= taking.kind === 'taken' || taking.kind === 'held';
        return taking;
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/winding-up.js
/** A cancelled step has to be gone in 5 s, and some of that goes into starting to end and into telling. */
const afterCancelMs = 3_500;
/** Limits for what has to be put in order: cancelled or not, it is done, but once cancelled it is done quickly. */
function windingUp(clock, patienceMs, cancelled) {
    const late = new AbortController();
    let timer;
    const hurry = () => {
        timer = setTimeout(() => late.abort(), afterCancelMs);
    };
    if (cancelled.aborted)
        hurry();
    else
        cancelled.addEventListener('abort', hurry, { once: true });
    return {
        deadline: clock() + patienceMs,
        signal: late.signal,
        lift() {
            cancelled.removeEventListener('abort', hurry);
            clearTimeout(timer);
        },
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/post-step/release-claims.js + 1 modules
var release_claims = __webpack_require__(162);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/release.js






/** The post-step ends within 60 s; the rest is for starting, telling and ending, also on a machine that is slow. */
const patienceMs = 45_000;
/** A network that goes away comes back or it does not: each attempt is short, and there are as many as fit. */
const longestAttempt = { seconds: 10 };
const attempts = 1_000;
/** Of many requests in trouble one is enough to tell of while they are tried again: at the end all of it is told. */
function quiet(log) {
    let told = false;
    return {
        ...log,
        line(text) {
            if (told)
                log.debug(text);
            else
                log.line(text);
            told = true;
        },
    };
}
/** Releases what the step has left. */
async function release(options) {
    const { connection, claims, ledger, step, origin, log, cancelled } = options;
    const { requestTimeout } = connection;
    const patient = {
        ...connection,
        retries: attempts,
        requestTimeout: requestTimeout.seconds < longestAttempt.seconds ? requestTimeout : longestAttempt,
    };
    const client = connect(patient, origin, quiet(log));
    const within = windingUp(steadyClock, patienceMs, cancelled);
    try {
        const parts = { client, step, origin, clock: steadyClock, sleep: sleep, random: Math.random };
        const keeper = createKeeper(parts, 
        // Nobody comes after the post-step to read what it writes.
        createRecorder(ledger, { ...log, warn: log.debug }));
        const settled = await (0,release_claims/* releaseClaims */.p)({ ...parts, keeper }, connection.baseUrl, claims, within);
        return { settled, now: client.serverNow() };
    }
    finally {
        within.lift();
        client.dispose();
    }
}


/***/ }),

/***/ 783:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   s: () => (/* binding */ getProxyUrl)
/* harmony export */ });
/* unused harmony export checkBypass */
function getProxyUrl(reqUrl) {
    const usingSsl = reqUrl.protocol === 'https:';
    if (checkBypass(reqUrl)) {
        return undefined;
    }
    const proxyVar = (() => {
        if (usingSsl) {
            return process.env['https_proxy'] || process.env['HTTPS_PROXY'];
        }
        else {
            return process.env['http_proxy'] || process.env['HTTP_PROXY'];
        }
    })();
    if (proxyVar) {
        try {
            return new DecodedURL(proxyVar);
        }
        catch (_a) {
            if (!proxyVar.startsWith('http://') && !proxyVar.startsWith('https://'))
                return new DecodedURL(`http://${proxyVar}`);
        }
    }
    else {
        return undefined;
    }
}
function checkBypass(reqUrl) {
    if (!reqUrl.hostname) {
        return false;
    }
    const reqHost = reqUrl.hostname;
    if (isLoopbackAddress(reqHost)) {
        return true;
    }
    const noProxy = process.env['no_proxy'] || process.env['NO_PROXY'] || '';
    if (!noProxy) {
        return false;
    }
    // Determine the request port
    let reqPort;
    if (reqUrl.port) {
        reqPort = Number(reqUrl.port);
    }
    else if (reqUrl.protocol === 'http:') {
        reqPort = 80;
    }
    else if (reqUrl.protocol === 'https:') {
        reqPort = 443;
    }
    // Format the request hostname and hostname with port
    const upperReqHosts = [reqUrl.hostname.toUpperCase()];
    if (typeof reqPort === 'number') {
        upperReqHosts.push(`${upperReqHosts[0]}:${reqPort}`);
    }
    // Compare request host against noproxy
    for (const upperNoProxyItem of noProxy
        .split(',')
        .map(x => x.trim().toUpperCase())
        .filter(x => x)) {
        if (upperNoProxyItem === '*' ||
            upperReqHosts.some(x => x === upperNoProxyItem ||
                x.endsWith(`.${upperNoProxyItem}`) ||
                (upperNoProxyItem.startsWith('.') &&
                    x.endsWith(`${upperNoProxyItem}`)))) {
            return true;
        }
    }
    return false;
}
function isLoopbackAddress(host) {
    const hostLower = host.toLowerCase();
    return (hostLower === 'localhost' ||
        hostLower.startsWith('127.') ||
        hostLower.startsWith('[::1]') ||
        hostLower.startsWith('[0:0:0:0:0:0:0:1]'));
}
class DecodedURL extends URL {
    constructor(url, base) {
        super(url, base);
        this._decodedUsername = decodeURIComponent(super.username);
        this._decodedPassword = decodeURIComponent(super.password);
    }
    get username() {
        return this._decodedUsername;
    }
    get password() {
        return this._decodedPassword;
    }
}
//# sourceMappingURL=proxy.js.map

/***/ })

};
