import { type Answer, headerOf, parseLinks } from './answer.ts';
import type { ServiceText } from './service-text.ts';

const maxLength = 300;

/** RFC 9745 writes `@` and seconds since 1970; drafts of it wrote a date or `true`. */
function sinceOf(deprecation: string): string {
  const seconds = /^@(\d{1,11})$/.exec(deprecation)?.[1];
  const ms = seconds === undefined ? Date.parse(deprecation) : Number(seconds) * 1_000;
  return Number.isNaN(ms) ? '' : ` since ${new Date(ms).toISOString().slice(0, 10)}`;
}

/** What the headers Deprecation (RFC 9745) and Sunset (RFC 8594) say, as a sentence. */
export function deprecationIn(answer: Answer, texts: ServiceText): string | undefined {
  const deprecation = headerOf(answer, 'deprecation');
  const sunset = headerOf(answer, 'sunset');
  if (deprecation === undefined && sunset === undefined) return undefined;
  const outdated = deprecation === undefined ? '' : ` is deprecated${sinceOf(deprecation)}`;
  const ending = sunset === undefined ? '' : ` ends on ${sunset}`;
  const links = parseLinks(headerOf(answer, 'link'));
  const more = links.get('deprecation') ?? links.get('sunset');
  const what = [outdated, ending].filter((part) => part !== '').join(' and');
  return texts.line(
    `The service says that this interface${what}.${more === undefined ? '' : ` See ${more}`}`,
    maxLength,
  );
}

/** Warns the first time. */
export function warnOfDeprecation(warn: (sentence: string) => void): (answer: Answer, texts: ServiceText) => void {
  let warned = false;
  return (answer, texts) => {
    const sentence = warned ? undefined : deprecationIn(answer, texts);
    if (sentence === undefined) return;
    warned = true;
    warn(sentence);
  };
}
