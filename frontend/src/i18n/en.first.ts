import { auth } from './auth.en';
import { chart, common, errors, live, states } from './common.en';
import { datasets } from './datasets.en';
import { git } from './git.en';
import { jobs } from './jobs.en';
import { labeling } from './labeling.en';
import { models } from './models.en';
import { overview } from './overview.en';
import { people } from './people.en';
import { secondFactor } from './secondFactor.en';
import { secrets } from './secrets.en';
import { settings } from './settings.en';
import { nav, shell } from './shell.en';

/** The words that are there from the beginning. */
const first = {
  auth,
  chart,
  common,
  datasets,
  errors,
  git,
  jobs,
  labeling,
  live,
  models,
  nav,
  overview,
  secondFactor,
  secrets,
  people,
  settings,
  shell,
  states,
};
export default first;
