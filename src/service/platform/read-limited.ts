/** Reads a stream to its end. Throws as soon as more than `maxBytes` have arrived. */
export async function readLimited(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.length;
    if (size > maxBytes) throw tooLong();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
