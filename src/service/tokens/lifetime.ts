import { durationUpTo } from '../../interface/duration.ts';

/** How long a token may live, for whoever makes one. */
export const parseLifetime = durationUpTo({ seconds: 36_500 * 86_400 }, '36500d');
