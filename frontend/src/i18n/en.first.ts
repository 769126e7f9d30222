import { chart, common, errors, live, states } from './common.en';
import { faults } from './faults.en';
import { jobs } from './jobs.en';
import { notifications } from './notifications.en';
import { people } from './people.en';
import { nav, shell } from './shell.en';

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
