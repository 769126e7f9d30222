import { auth } from './auth.en';
import { cleaning } from './cleaning.en';
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
import { sources } from './sources.en';
import { upload } from './upload.en';
import { versioning } from './versioning.en';
import { views } from './views.en';
import { webhooks } from './webhooks.en';
import { writers } from './writers.en';

const en = {
  auth,
  chart,
  cleaning,
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
  sources,
  states,
  upload,
  versioning,
  views,
  webhooks,
  writers,
};
export default en;
