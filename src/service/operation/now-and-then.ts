/** Whether something is to be told; `untold` is how often it was not, since it last was. */
export type Telling = { readonly tell: true; readonly untold: number } | { readonly tell: false };

export interface NowAndThenOptions {
  readonly most: number;
  readonly everyMs: number;
}

/** For what others can make happen as often as they like: tells of it so many times in each interval, and counts the rest. */
export function nowAndThen({ most, everyMs }: NowAndThenOptions, clock: () => number): () => Telling {
  let began = Number.NEGATIVE_INFINITY;
  let told = 0;
  let untold = 0;
  return () => {
    const now = clock();
    if (now - began >= everyMs) {
      began = now;
      told = 0;
    }
    if (told >= most) {
      untold += 1;
      return { tell: false };
    }
    told += 1;
    const telling: Telling = { tell: true, untold };
    untold = 0;
    return telling;
  };
}
