import { auth } from './auth.en';
import { chart, common, errors, live, states } from './common.en';
import { compare } from './compare.en';
import { datasets } from './datasets.en';
import { git } from './git.en';
import { jobs } from './jobs.en';
import { labeling } from './labeling.en';
import { models } from './models.en';
import { overview } from './overview.en';
import { people } from './people.en';
import { secrets } from './secrets.en';
import { settings } from './settings.en';
import { nav, shell } from './shell.en';
import { webhooks } from './webhooks.en';

/** The words that are there from the beginning. */
const first = {
  auth,
  chart,
  common,
  compare,
  datasets,
  errors,
  git,
  jobs,
  labeling,
  live,
  models,
  nav,
  overview,
  secrets,
  people,
  settings,
  shell,
  states,
  webhooks,
};
export default first;
