const parts = (whole: number, each: number): readonly [number, number] => [Math.floor(whole / each), whole % each];

/** As exact as a person compares: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(milliseconds: number): string {
  const exact = Math.max(0, milliseconds) / 1_000;
  if (exact < 9.95) return `${exact.toFixed(1)} s`;
  const seconds = Math.round(exact);
  if (seconds < 60) return `${seconds} s`;
  const [minutes, restSeconds] = parts(seconds, 60);
  if (minutes < 60) return restSeconds === 0 ? `${minutes} min` : `${minutes} min ${restSeconds} s`;
  const [hours, restMinutes] = parts(minutes, 60);
  return restMinutes === 0 ? `${hours} h` : `${hours} h ${restMinutes} min`;
}
