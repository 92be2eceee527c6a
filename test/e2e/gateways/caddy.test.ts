import { caddy } from './gateways.ts';
import { testOutages } from './outages.ts';

testOutages(caddy);
