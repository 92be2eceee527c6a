/** As long as the longest path. */
const maxLength = 1_024;

/**
 * Each `*` is tried at every position of a name, for every position of those before it. On a name of 255 letters, three
 * that do not match take some 40 ms, four 2 s, and five more than a minute.
 */
const maxStarsInSegment = 3;

/** Each alternative is a pattern of its own. */
const maxAlternatives = 256;

/** Why a pattern could take forever on an unlucky name; undefined if it is fast on every name. */
export function slowPatternReason(pattern: string): string | undefined {
  if (pattern.length > maxLength) return `A pattern has at most ${maxLength} characters.`;
  if (alternatives(pattern) > maxAlternatives) {
    return `The braces of a pattern stand for at most ${maxAlternatives} alternatives. Write it as several lines.`;
  }
  if (repeatedGroup.test(pattern)) {
    return 'A group that is repeated, *(…) or +(…), must not have alternatives or wildcards in it: to match it could take for ever.';
  }
  if (pattern.split('/').some((segment) => starsIn(segment) > maxStarsInSegment)) {
    return `A pattern has at most ${maxStarsInSegment} asterisks between two slashes: more could take minutes on one name.`;
  }
  return undefined;
}

const innermostBraces = /\{([^{}]*)\}/;

function rangeSize(text: string): number | undefined {
  const [, from, to] = /^(-?\d{1,15})\.\.(-?\d{1,15})(?:\.\.-?\d{1,15})?$/.exec(text) ?? [];
  return from === undefined || to === undefined ? undefined : Math.abs(Number(to) - Number(from)) + 1;
}

/** How many alternatives the braces of a pattern expand to, or more; stops counting beyond the limit. */
function alternatives(pattern: string): number {
  let rest = pattern;
  let product = 1;
  for (let found = innermostBraces.exec(rest); found !== null; found = innermostBraces.exec(rest)) {
    const [braces, inner = ''] = found;
    product *= rangeSize(inner) ?? inner.split(',').length;
    if (product > maxAlternatives) return product;
    rest = rest.slice(0, found.index) + rest.slice(found.index + braces.length);
  }
  return product;
}

const starsIn = (segment: string): number => (segment === '**' ? 0 : segment.split('*').length - 1);

/** A repeated group of parts that vary: `+(a|aa)` matches a name in more ways than can be tried. */
const repeatedGroup = /[*+]\([^)]*[|*+?(]/;
