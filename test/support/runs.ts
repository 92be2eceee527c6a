/** How often a property is tried: often enough with every change, and much more in `npm run test:soak`. */
export const runs = (few: number, many: number): number => (process.env['SOAK'] === '1' ? many : few);
