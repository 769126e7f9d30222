import { auth } from './auth.zh';
import { cleaning } from './cleaning.zh';
import { chart, common, errors, live, states } from './common.zh';
import { compare } from './compare.zh';
import { datasets } from './datasets.zh';
import { git } from './git.zh';
import { health } from './health.zh';
import { item } from './item.zh';
import { jobs } from './jobs.zh';
import { labeling } from './labeling.zh';
import { models } from './models.zh';
import { overview } from './overview.zh';
import { people } from './people.zh';
import { runpage } from './runpage.zh';
import { runs } from './runs.zh';
import { secondFactor } from './secondFactor.zh';
import { secrets } from './secrets.zh';
import { settings } from './settings.zh';
import { nav, shell } from './shell.zh';
import { sources } from './sources.zh';
import { upload } from './upload.zh';
import { versioning } from './versioning.zh';
import { views } from './views.zh';
import { webhooks } from './webhooks.zh';
import { writers } from './writers.zh';

const zh = {
  auth,
  chart,
  cleaning,
  common,
  compare,
  datasets,
  errors,
  git,
  health,
  item,
  jobs,
  labeling,
  live,
  models,
  nav,
  overview,
  secondFactor,
  runs,
  runpage,
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
export default zh;
