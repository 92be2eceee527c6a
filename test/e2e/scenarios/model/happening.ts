import type fc from 'fast-check';

/** The model is kept by the world itself. */
export type Nothing = Record<string, never>;

/** What happens in a world, and its name in a sequence that failed. */
export class Happening<World> implements fc.AsyncCommand<Nothing, World> {
  readonly name: string;
  readonly play: (world: World) => Promise<void>;
  constructor(name: string, play: (world: World) => Promise<void>) {
    this.name = name;
    this.play = play;
  }
  check(): boolean {
    return true;
  }
  run(_: Nothing, world: World): Promise<void> {
    return this.play(world);
  }
  toString(): string {
    return this.name;
  }
}
