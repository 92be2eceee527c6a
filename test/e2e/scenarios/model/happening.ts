import type fc from 'fast-check';

/** Empty, since the world itself keeps the model. */
export type Nothing = Record<string, never>;

/** An event in a world, with its name in failed sequences. */
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
