import { afterAll, beforeAll, it } from 'vitest';
import { expectEffectOfChanges, OrdersDeployment } from '../testing/orders-deployment.js';

let all: OrdersDeployment;
beforeAll(async () => {
  all = await OrdersDeployment.start();
});
afterAll(() => all.stop());

it('each of 1,000 changes of orders and grants decides the next query to every resolver', () =>
  expectEffectOfChanges(all, 1_000));
