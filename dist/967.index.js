export const id = 967;
export const ids = [967];
export const modules = {

/***/ 1967:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   listBranches: () => (/* binding */ listBranches),
/* harmony export */   listWorkspaces: () => (/* binding */ listWorkspaces)
/* harmony export */ });
/* harmony import */ var _context_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1659);
/* harmony import */ var _outcome_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8776);
/* harmony import */ var _report_redact_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(2938);
/* harmony import */ var _report_words_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(1046);




const asOutput = ({ redact }, items, key) => (0,_report_redact_js__WEBPACK_IMPORTED_MODULE_2__/* .redactedJson */ .Rh)(items.map(({ name, raw }) => ({ [key]: name, ...raw })), redact);
function logList({ log }, { items, incomplete }, sentence) {
    log.group(sentence, items.map(({ name }) => name));
    if (incomplete !== undefined)
        log.warn(incomplete);
}
async function listWorkspaces(context) {
    const list = await context.client.listWorkspaces((0,_context_js__WEBPACK_IMPORTED_MODULE_0__/* .defaultLimits */ .MK)(context));
    const sentence = `The token can see ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_3__/* .count */ .U9)(list.items.length, 'workspace')}.`;
    logList(context, list, sentence);
    return (0,_outcome_js__WEBPACK_IMPORTED_MODULE_1__/* .succeeded */ .gq)({ status: 'ok', count: String(list.items.length), workspaces: asOutput(context, list.items, 'id') }, sentence, { head: ['Workspace'], rows: list.items.map(({ name }) => [name]) });
}
const text = (value) => (typeof value === 'string' ? value : '');
async function listBranches(context, { workspace }) {
    const list = await context.client.listBranches({ workspace }, (0,_context_js__WEBPACK_IMPORTED_MODULE_0__/* .defaultLimits */ .MK)(context));
    const sentence = `The workspace ${workspace} has ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_3__/* .count */ .U9)(list.items.length, 'branch', 'branches')}.`;
    logList(context, list, sentence);
    return (0,_outcome_js__WEBPACK_IMPORTED_MODULE_1__/* .succeeded */ .gq)({ status: 'ok', count: String(list.items.length), branches: asOutput(context, list.items, 'name') }, sentence, {
        head: ['Branch', 'Head', 'Synced'],
        rows: list.items.map(({ name, raw }) => [name, text(raw['head']), text(raw['synced_head'])]),
    });
}


/***/ })

};
