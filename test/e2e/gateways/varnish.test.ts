import { varnish } from './gateways.ts';
import { testOutages } from './outages.ts';

testOutages(varnish);
