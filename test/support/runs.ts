/** Such as the number of runs of a property: enough for every change, and many more in `npm run test:soak`. */
export const runs = <T>(few: T, many: T): T => (process.env['SOAK'] === '1' ? many : few);

/** Whether every form of a scenario is tested, as in `npm run test:e2e` and the soak test. */
export const everyForm = process.env['EVERY_FORM'] === '1' || process.env['SOAK'] === '1';

/** All forms of a scenario or, in `npm test`, those at these indexes: none if there are no indexes. */
export const forms = <Form>(all: readonly Form[], ...places: readonly number[]): readonly Form[] =>
  everyForm ? all : all.filter((_, place) => places.includes(place));
