export const id = 448;
export const ids = [448];
export const modules = {

/***/ 7448:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   sync: () => (/* binding */ sync)
/* harmony export */ });
/* harmony import */ var _client_client_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2683);
/* harmony import */ var _interface_duration_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(4393);
/* harmony import */ var _context_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(1659);
/* harmony import */ var _outcome_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(8776);
/* harmony import */ var _report_words_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(1046);
/* harmony import */ var _retry_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(7138);






const firstPauseMs = 500;
const maxPauseMs = 10_000;
const growth = 1.5;
const outputsOf = (branch, sync) => ({
    status: sync.status,
    branch: sync.branch ?? branch,
    ...(sync.sync_id !== undefined && { sync_id: sync.sync_id }),
    ...(sync.estimated_objects !== undefined && { estimated_objects: String(sync.estimated_objects) }),
});
function progressText({ status, received_objects, estimated_objects }) {
    if (received_objects === undefined)
        return status;
    const of = estimated_objects === undefined || estimated_objects === 0 ? '' : ` of about ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_4__/* .grouped */ .zD)(estimated_objects)}`;
    return `${status}, ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_4__/* .grouped */ .zD)(received_objects)}${of} objects received`;
}
function objectsText({ state, received_objects, estimated_objects }) {
    if (state !== 'going-on' && received_objects !== undefined)
        return (0,_report_words_js__WEBPACK_IMPORTED_MODULE_4__/* .grouped */ .zD)(received_objects);
    return estimated_objects === undefined ? '' : `about ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_4__/* .grouped */ .zD)(estimated_objects)}`;
}
function transientError(error) {
    if (error instanceof _client_client_js__WEBPACK_IMPORTED_MODULE_0__/* .ServiceError */ ._7 && ((0,_retry_js__WEBPACK_IMPORTED_MODULE_5__/* .isTransient */ .dg)(error) || error.failure.kind === 'aborted'))
        return error;
    throw error;
}
async function follow(context, started, address, within, tookMs) {
    const { client, clock, sleep, signal, log } = context;
    let last = started;
    let said = `The sync is ${progressText(started)}.`;
    let pause = firstPauseMs;
    let askedMs = started.retryAfterMs;
    let previousTookMs = tookMs;
    let unseen;
    let lookedLast = false;
    for (;;) {
        if (last.state !== 'going-on')
            return { kind: 'ended', last };
        if (signal.aborted)
            return { kind: 'cancelled', last };
        const left = within.deadline - clock();
        const reservedMs = (0,_retry_js__WEBPACK_IMPORTED_MODULE_5__/* .lastAttemptMs */ .wS)(previousTookMs);
        if (left <= 0 || (lookedLast && left <= reservedMs))
            return { kind: 'out-of-time', last, unseen };
        const untilLastLook = Math.max(0, left - reservedMs);
        const pauseMs = Math.min(untilLastLook, Math.max(pause, askedMs ?? 0));
        await sleep(pauseMs, signal);
        if (signal.aborted)
            continue;
        pause = Math.min(maxPauseMs, pause * growth);
        lookedLast = pauseMs === untilLastLook;
        const deadline = lookedLast ? within.deadline : within.deadline - reservedMs;
        const lookBegan = clock();
        const look = await client
            .syncStatus(address, { ...within, deadline }, { throttled: !lookedLast })
            .catch(transientError);
        previousTookMs = clock() - lookBegan;
        if (look instanceof _client_client_js__WEBPACK_IMPORTED_MODULE_0__/* .ServiceError */ ._7) {
            unseen = look;
            askedMs = (0,_retry_js__WEBPACK_IMPORTED_MODULE_5__/* .retryAfterOf */ .sT)(look);
        }
        else {
            unseen = undefined;
            last = look;
            askedMs = look.retryAfterMs;
        }
        const text = unseen === undefined ? `The sync is ${progressText(last)}.` : unseen.message;
        if (text !== said && last.state === 'going-on' && !lookedLast && !signal.aborted)
            log.line(text);
        said = text;
    }
}
const table = (workspace, branch, sync) => ({
    head: ['Workspace', 'Branch', 'Status', 'Objects', 'Head'],
    rows: [[workspace, branch, sync.status, objectsText(sync), sync.head ?? '']],
});
async function waitForEnd(context, task, started, tookMs) {
    const { workspace, branch, wait } = task;
    const began = context.clock();
    const within = { deadline: began + (0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_1__/* .milliseconds */ .Rz)(wait), signal: context.signal };
    const failedAt = (sync, why) => (0,_outcome_js__WEBPACK_IMPORTED_MODULE_3__/* .failed */ .gz)(outputsOf(branch, sync), why, table(workspace, branch, sync));
    if (started.progress.kind === 'none' && started.state === 'going-on') {
        return failedAt(started, `The sync of ${branch} was started, but it cannot be waited for. ${started.progress.why} Remove \`wait\`, or use a service that offers the status of a sync.`);
    }
    const followed = started.progress.kind === 'none'
        ? { kind: 'ended', last: started }
        : await follow(context, started, started.progress.address, within, tookMs);
    const last = {
        ...followed.last,
        sync_id: followed.last.sync_id ?? started.sync_id,
        estimated_objects: started.estimated_objects ?? followed.last.estimated_objects,
    };
    switch (followed.kind) {
        case 'cancelled':
            return failedAt(last, `Waiting for the sync of ${branch} was cancelled; the service goes on with it.`);
        case 'out-of-time': {
            const { unseen } = followed;
            const what = unseen === undefined
                ? `has not ended within ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_1__/* .formatDuration */ .a3)(wait)}: it is ${progressText(last)}.`
                : `was not seen to end within ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_1__/* .formatDuration */ .a3)(wait)}: when it was last seen it was ${progressText(last)}. Asking again failed: ${unseen.message}`;
            const advice = 'The service goes on with it. Raise `wait` to wait longer.';
            return failedAt(last, `The sync of ${branch} ${what} ${advice}`);
        }
        case 'ended': {
            if (last.state === 'failed')
                return failedAt(last, `The sync of ${branch} failed: ${last.error ?? last.status}`);
            const took = (0,_report_words_js__WEBPACK_IMPORTED_MODULE_4__/* .duration */ .p0)(context.clock() - began);
            const received = last.received_objects === undefined ? '' : `, ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_4__/* .count */ .U9)(last.received_objects, 'object')} received`;
            const sentence = `The branch ${branch} of ${workspace} is synced: ${last.status} after ${took}${received}.`;
            context.log.line(sentence);
            return (0,_outcome_js__WEBPACK_IMPORTED_MODULE_3__/* .succeeded */ .gq)(outputsOf(branch, last), sentence, table(workspace, branch, last));
        }
    }
}
async function sync(context, task) {
    const { client, clock, log, setOutputs } = context;
    const { workspace, branch, wait } = task;
    const began = clock();
    const started = await client.startSync({ workspace, branch }, (0,_context_js__WEBPACK_IMPORTED_MODULE_2__/* .defaultLimits */ .MK)(context));
    const tookMs = clock() - began;
    setOutputs(outputsOf(branch, started));
    const { estimated_objects: estimated } = started;
    const about = estimated === undefined
        ? ''
        : estimated === 0
            ? ', nothing new to receive'
            : `, about ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_4__/* .count */ .U9)(estimated, 'object')} to receive`;
    const sentence = `The sync of ${branch} in ${workspace} is ${started.status}${about}.`;
    log.line(sentence);
    if (wait.seconds > 0)
        return waitForEnd(context, task, started, tookMs);
    if (started.state === 'failed') {
        const why = `The sync of ${branch} failed: ${started.error ?? started.status}`;
        return (0,_outcome_js__WEBPACK_IMPORTED_MODULE_3__/* .failed */ .gz)(outputsOf(branch, started), why, table(workspace, branch, started));
    }
    return (0,_outcome_js__WEBPACK_IMPORTED_MODULE_3__/* .succeeded */ .gq)(outputsOf(branch, started), sentence, table(workspace, branch, started));
}


/***/ }),

/***/ 7138:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   dg: () => (/* binding */ isTransient),
/* harmony export */   sT: () => (/* binding */ retryAfterOf),
/* harmony export */   wS: () => (/* binding */ lastAttemptMs)
/* harmony export */ });
/* harmony import */ var _client_client_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2683);

function isTransient({ failure, status }) {
    if (failure.kind === 'aborted')
        return false;
    if (status !== undefined)
        return (0,_client_client_js__WEBPACK_IMPORTED_MODULE_0__/* .isTransientStatus */ .Dm)(status);
    return (failure.kind === 'deadline' || failure.kind === 'timeout' || (failure.kind === 'connection' && !failure.untrusted));
}
function retryAfterOf({ failure }) {
    return failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;
}
const minLastAttemptMs = 300;
const maxLastAttemptMs = 5_000;
const lastAttemptMs = (previousTookMs) => Math.min(maxLastAttemptMs, Math.max(minLastAttemptMs, 2 * previousTookMs));


/***/ })

};
