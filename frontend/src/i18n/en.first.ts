import { nav, shell } from '@/app/shell/shell.en';
import { jobs } from '@/features/jobs/words/jobs.en';
import { notifications } from '@/features/notifications/words/notifications.en';
import { faults } from '@/shared/domain/faults/faults.en';
import { chart, common, errors, live, states } from './common.en';
import { people } from './people.en';

/** The words that are there from the beginning. */
const first = {
  chart,
  common,
  errors,
  faults,
  jobs,
  live,
  nav,
  notifications,
  people,
  shell,
  states,
};
export default first;
