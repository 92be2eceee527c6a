import { apache } from './gateways.ts';
import { testOutages } from './outages.ts';

testOutages(apache);
