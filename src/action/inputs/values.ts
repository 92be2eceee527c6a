import { isObject, type JsonObject, parseJson } from '../../client/json.ts';
import { type Duration, formatDuration, parseDuration } from '../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

/** A token goes into a header: RFC 9110, section 5.5, without blanks. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** YAML 1.2 core schema: the words for yes and no that a workflow file can have. */
export function parseBoolean(text: string): Parsed<boolean> {
  if (/^(?:true|True|TRUE)$/.test(text)) return accepted(true);
  if (/^(?:false|False|FALSE)$/.test(text)) return accepted(false);
  return refused('It has to be true or false.');
}

export const lossReactions = ['fail', 'warn'] as const;

/** What the end of a job does about a lock that was lost while the job ran. */
export type LossReaction = (typeof lossReactions)[number];

export function parseLossReaction(text: string): Parsed<LossReaction> {
  const found = lossReactions.find((each) => each === text);
  return found === undefined ? refused(`It has to be one of ${lossReactions.join(', ')}.`) : accepted(found);
}

export function parseWholeNumber(most: number): (text: string) => Parsed<number> {
  return (text) => {
    const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    return number <= most ? accepted(number) : refused(`It has to be a whole number from 0 to ${most}.`);
  };
}

export function parseDurationBetween(least: Duration, most: Duration): (text: string) => Parsed<Duration> {
  return (text) => {
    const duration = parseDuration(text);
    if (!duration.ok) return duration;
    return duration.value.seconds >= least.seconds && duration.value.seconds <= most.seconds
      ? duration
      : refused(`It has to be from ${formatDuration(least)} to ${formatDuration(most)}.`);
  };
}

export const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const words = (text: string): readonly string[] =>
  text
    .split(/[\n,]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** One that nests without end is refused too: it would exhaust the stack of whoever looks through it. */
export function parseJsonObject(text: string): Parsed<JsonObject> {
  const json = parseJson(text, (each) => each);
  if (json.ok && isObject(json.value)) return accepted(json.value);
  // Without the text: it may hold secrets.
  return refused('It has to be a JSON object, such as {"format": "github"}.');
}
