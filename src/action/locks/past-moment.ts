import { moment } from '../report/words.ts';

/** Answers carry the time of the service in whole seconds, so that by it a moment ago can lie ahead. */
export const answerClockMs = 1_000;

/** "14:05 UTC (3 min ago)", of something that has happened. */
export const pastMoment = (time: number, now: number): string => moment(time, Math.max(now, time + 1));
