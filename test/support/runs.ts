/** How often a property is tried: often enough with every change, and much more in `npm run test:soak`. */
export const runs = (few: number, many: number): number => (process.env['SOAK'] === '1' ? many : few);

/** Whether every form of a scenario is played, as `npm run test:e2e` and the soak test do. */
export const everyForm = process.env['EVERY_FORM'] === '1' || process.env['SOAK'] === '1';

/** All forms of a scenario, or, in `npm test`, those at these places: none, where none is named. */
export const forms = <Form>(all: readonly Form[], ...places: readonly number[]): readonly Form[] =>
  everyForm ? all : all.filter((_, place) => places.includes(place));
