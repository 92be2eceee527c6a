export const id = 735;
export const ids = [735];
export const modules = {

/***/ 4735:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

// ESM COMPAT FLAG
__webpack_require__.r(__webpack_exports__);

// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  unlock: () => (/* binding */ unlock)
});

// EXTERNAL MODULE: ./build/bundle/compiled/action/context.js
var action_context = __webpack_require__(1659);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/in-parallel.js
var in_parallel = __webpack_require__(2982);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/lookup.js
var locks_lookup = __webpack_require__(3981);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/release.js
var locks_release = __webpack_require__(3850);
// EXTERNAL MODULE: ./build/bundle/compiled/action/outcome.js
var action_outcome = __webpack_require__(8776);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/messages.js
var messages = __webpack_require__(8767);
// EXTERNAL MODULE: ./build/bundle/compiled/action/report/words.js
var words = __webpack_require__(1046);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/unlock-report.js



function statusOf(results) {
    const kinds = new Set(results.map(({ kind }) => kind));
    if (kinds.has('lost'))
        return 'lost';
    if (kinds.has('released'))
        return 'released';
    return results.every(({ kind }) => kind === 'absent') ? 'absent' : 'held';
}
function holderText(holder, now) {
    const until = holder?.expires_at === undefined ? '' : ` until ${(0,words/* clockTime */.qo)(Date.parse(holder.expires_at), now)}`;
    return `held by ${holder?.owner ?? 'somebody else'}${until}`;
}
function resultText(result, now) {
    switch (result.kind) {
        case 'released':
            return 'released';
        case 'absent':
            return 'was not locked';
        case 'lost':
            return 'held by somebody else, left alone';
        case 'held':
            return `${holderText(result.holder, now)}, left alone`;
        case 'not-ours':
            return 'not locked by this job, left alone';
        case 'left-alone':
            return 'cannot be told apart from a lock of somebody else, left alone';
        case 'refused':
            return `${holderText(result.holder, now)}, and not this token’s to release`;
        case 'unclear':
            return 'not known to be released';
        case 'failed':
            return 'not released';
    }
}
function failureOf(result, now) {
    switch (result.kind) {
        case 'lost':
            return [`${(0,messages/* heldText */.Dx)(result.path, result.holder, now)}: the lock was lost, and has been left alone.`];
        case 'refused': {
            const { path, holder, requestId } = result;
            const request = requestId === undefined ? '' : `, request id ${requestId}`;
            return [
                `${(0,messages/* heldText */.Dx)(path, holder, now)}, and the service does not let this token release that lock (403${request}). To release it anyway, set \`force: true\` with a token that has the scope \`locks:admin\`.`,
            ];
        }
        case 'unclear':
            return [
                `It is not known whether the lock on ${result.path} was released: the release was sent only once, because nothing tells the lock from a later one. ${result.why}`,
            ];
        case 'failed':
            return [`The lock on ${result.path} was not released. ${result.why}`];
        default:
            return [];
    }
}
function sentenceOf(results, workspace) {
    const released = (0,action_outcome/* ofKind */.CZ)(results, 'released');
    const [first] = released;
    const what = first === undefined
        ? 'Nothing was released'
        : `Released ${results.length === 1 ? first.path : (0,words/* count */.U9)(released.length, 'lock')}`;
    if (results.length === 0)
        return `${what} in ${workspace}: this job has no lock on what the pattern matches.`;
    const numberOf = (...kinds) => results.filter(({ kind }) => kinds.includes(kind)).length;
    const owners = new Set((0,action_outcome/* ofKind */.CZ)(results, 'held').map(({ holder }) => holder?.owner ?? 'somebody else'));
    const others = [
        [numberOf('absent'), 'not locked'],
        [numberOf('lost'), 'lost'],
        [numberOf('not-ours'), 'not of this job'],
        [numberOf('left-alone'), 'left alone'],
        [numberOf('held'), `held by ${(0,words/* listed */.KE)([...owners])}`],
        [numberOf('failed', 'refused', 'unclear'), 'not released'],
    ];
    const parts = others.filter(([number]) => number > 0).map(([number, words]) => `, ${number} ${words}`);
    return `${what} in ${workspace}${parts.join('')}.`;
}
function cautionText(results, now) {
    const held = (0,action_outcome/* ofKind */.CZ)(results, 'held').filter(({ asked }) => asked === 'by-name');
    const named = [...held, ...(0,action_outcome/* ofKind */.CZ)(results, 'not-ours')];
    const [first] = named;
    if (first === undefined)
        return undefined;
    const which = named.length > 1
        ? `This job has no lock on ${(0,words/* count */.U9)(named.length, 'of the paths', 'of the paths')}, and what is there is left alone: ${(0,words/* listed */.KE)(named.map(({ path }) => path))}.`
        : first.kind === 'held'
            ? `${(0,messages/* heldText */.Dx)(first.path, first.holder, now)}, and not by this job: it is left alone.`
            : `This job has no lock on ${first.path}, and who has one cannot be seen: what is there is left alone.`;
    return `${which} \`force: true\` would release it all the same.`;
}
function othersText(results, now) {
    const others = (0,action_outcome/* ofKind */.CZ)(results, 'held').filter(({ asked }) => asked === 'by-pattern');
    if (others.length === 0)
        return undefined;
    return `Left alone, because this job is not known to hold them: ${(0,words/* listed */.KE)(others.map(({ path, holder }) => `${path} (${holderText(holder, now)})`))}.`;
}
function unlockOutcome(results, workspace, now) {
    const rows = results.map((result) => [result.path, resultText(result, now)]);
    return {
        outputs: {
            status: statusOf(results),
            released: JSON.stringify((0,action_outcome/* ofKind */.CZ)(results, 'released').map(({ path }) => path)),
        },
        sentence: sentenceOf(results, workspace),
        tables: [{ head: ['Path', 'Result'], rows }],
        failures: results.flatMap((result) => failureOf(result, now)),
        annotations: [],
    };
}

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/parsed.js
var parsed = __webpack_require__(9296);
// EXTERNAL MODULE: ./build/bundle/compiled/action/inputs/parse.js
var parse = __webpack_require__(3283);
// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/history.js
var ledger_history = __webpack_require__(6504);
// EXTERNAL MODULE: ./build/bundle/compiled/action/paths/resolve-paths.js + 1 modules
var resolve_paths = __webpack_require__(5340);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/unlock-targets.js






const fromHandoff = ({ path, ...lock }) => ({
    kind: 'lock',
    path,
    lock,
    doubtful: false,
    asked: 'by-name',
});
function resolveFromLedger({ kind, path }, { held, planned, damaged }) {
    const lock = held.get(path);
    if (lock !== undefined) {
        const { grant, releaseBegun } = lock;
        const asked = kind === 'matched' ? 'by-pattern' : 'by-name';
        const own = { ...grant.lock, grantedAt: grant.at };
        return { kind: 'lock', path, lock: own, doubtful: releaseBegun || damaged, asked };
    }
    if (kind === 'matched')
        return { kind: 'matched', path };
    if (planned.has(path))
        return { kind: 'not-ours', path };
    return damaged ? { kind: 'lock', path, lock: {}, doubtful: true, asked: 'by-name' } : { kind: 'path', path };
}
function readText(file) {
    try {
        return (0,parsed/* accepted */.q)((0,external_node_fs_.readFileSync)(file, 'utf8'));
    }
    catch (error) {
        return (0,parsed/* refused */.J)(`The file cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
    }
}
async function unlockTargets(context, task) {
    const { ledger, connection, runner } = context;
    const { selection, workspace, force } = task;
    switch (selection.kind) {
        case 'paths': {
            const jobLocks = (0,ledger_history/* readJobLocks */.k)(ledger, connection.baseUrl, workspace);
            const lockedPaths = [...jobLocks.held.keys()];
            const resolved = await (0,resolve_paths/* resolvePaths */.L)(selection.paths, { checkout: runner.checkout, lockedPaths });
            return resolved.map((each) => (force ? { kind: 'path', path: each.path } : resolveFromLedger(each, jobLocks)));
        }
        case 'locks':
            return selection.locks.map(fromHandoff);
        case 'locks-file': {
            const { file } = selection;
            const text = readText(file);
            const locks = text.ok ? (0,parse/* parseHandoff */["in"])(text.value) : text;
            if (!locks.ok)
                throw new action_outcome/* InputError */.dz([`Input \`locks-file\` is ${JSON.stringify(file)}. ${locks.why}`]);
            return locks.value.map(fromHandoff);
        }
    }
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/unlock.js







const courtesyMs = 10_000;
const isOfKind = (kind) => (target) => target.kind === kind;
const pathsOf = (targets) => targets.map(({ path }) => path);
const refusesThisLock = ({ failure }) => failure.kind === 'refused' && failure.status === 403 && failure.missingScope === undefined;
async function lookAtOthers({ client, clock }, workspace, targets, limits) {
    const within = { ...limits, deadline: Math.min(limits.deadline, clock() + courtesyMs) };
    const named = pathsOf(targets.filter(isOfKind('not-ours')));
    const matched = pathsOf(targets.filter(isOfKind('matched')));
    const [atNamed, atMatched] = await Promise.all([
        (0,locks_lookup/* lookupIn */.IX)((0,locks_lookup/* listOnPaths */.cP)(client, workspace, named, within)),
        matched.length > 0 ? (0,locks_lookup/* lookupIn */.IX)((0,locks_lookup/* listTogether */.XO)(client, workspace, matched, within)) : undefined,
    ]);
    return [
        ...named.map((path) => {
            const found = atNamed(path);
            if (found.kind === 'locked')
                return { path, kind: 'held', holder: found.lock, asked: 'by-name' };
            return { path, kind: found.kind === 'absent' ? 'absent' : 'not-ours' };
        }),
        ...matched.flatMap((path) => {
            const found = atMatched?.(path);
            return found?.kind === 'locked' ? [{ path, kind: 'held', holder: found.lock, asked: 'by-pattern' }] : [];
        }),
    ];
}
async function unlock(context, task) {
    const { client, log, connection } = context;
    const { workspace, force } = task;
    const targets = await unlockTargets(context, task);
    const within = (0,action_context/* defaultLimits */.MK)(context);
    const results = [];
    function failed(path, error, holder, advice = '') {
        if (!force && refusesThisLock(error))
            return { path, kind: 'refused', holder, requestId: error.requestId };
        return { path, kind: 'failed', why: `${error.message}${advice}` };
    }
    async function release(path, target, onLost) {
        const request = { service: connection.baseUrl, workspace, path, target, force };
        const result = await (0,locks_release/* releaseLock */.x_)(context, request, within);
        switch (result.kind) {
            case 'released':
            case 'absent':
                results.push({ path, kind: result.kind });
                break;
            case 'left-alone':
                log.warn(`The lock on ${path} now may be somebody else's, because nothing shows that it is the one you mean: it is left alone.`);
                results.push({ path, kind: 'left-alone' });
                break;
            case 'lost':
                results.push(onLost(result.holder));
                break;
            case 'unclear':
                results.push({ path, kind: 'unclear', why: result.error.message });
                break;
            case 'failed': {
                const lock = target.kind === 'found' && target.found.kind === 'locked' ? target.found.lock : undefined;
                const sentOnce = target.kind === 'found' && (lock === undefined || !(0,locks_release/* isProven */.nn)(lock));
                const advice = ' It was sent only once, because nothing tells the lock from a later one.';
                results.push(failed(path, result.error, lock, sentOnce ? advice : ''));
            }
        }
    }
    async function releaseAllFound() {
        const paths = pathsOf(targets.filter(isOfKind('path')));
        const lookup = await (0,locks_lookup/* lookupIn */.IX)((0,locks_lookup/* listOnPaths */.cP)(client, workspace, paths, within));
        await (0,in_parallel/* inParallel */.H)(paths, async (path) => {
            const found = lookup(path);
            if (found.kind === 'failed')
                results.push(failed(path, found.error));
            else
                await release(path, { kind: 'found', found }, (holder) => ({ path, kind: 'held', holder, asked: 'by-name' }));
        });
    }
    await (0,in_parallel/* inParallel */.H)(targets.filter(isOfKind('lock')), ({ path, lock, doubtful, asked }) => release(path, { kind: 'own', lock, doubtful }, (holder) => doubtful ? { path, kind: 'held', holder, asked } : { path, kind: 'lost', holder }));
    const [, others] = await Promise.all([releaseAllFound(), lookAtOthers(context, workspace, targets, within)]);
    results.push(...others);
    results.sort(action_outcome/* byPath */.f2);
    const now = client.serverNow();
    const caution = cautionText(results, now);
    if (caution !== undefined)
        log.warn(caution);
    const outcome = unlockOutcome(results, workspace, now);
    log.group(outcome.sentence, results.map((result) => `${result.path}: ${resultText(result, now)}`));
    const leftAlone = othersText(results, now);
    if (leftAlone !== undefined)
        log.line(leftAlone);
    return outcome;
}


/***/ })

};
