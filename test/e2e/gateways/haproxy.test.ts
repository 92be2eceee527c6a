import { haproxy } from './gateways.ts';
import { testOutages } from './outages.ts';

testOutages(haproxy);
