const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** "512 B", "1.25 GB": three significant digits. */
export function byteSize(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Number((bytes / 1_000 ** power).toPrecision(3))} ${units[power]}`;
}
