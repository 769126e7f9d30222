import { nav, shell } from '@/app/shell/shell.en';
import { bell } from '@/features/notifications/words/bell.en';
import { faults } from '@/shared/domain/faults/faults.en';
import { chart, common, errors, live, states } from './common.en';

/** The words that are there from the beginning. */
const first = {
  bell,
  chart,
  common,
  errors,
  faults,
  live,
  nav,
  shell,
  states,
};
export default first;
