import { varnish } from '../../support/gateways/gateways.ts';
import { testOutages } from './outages.ts';

testOutages(varnish);
