import { addWords } from '@/i18n';
import { table } from '@/i18n/table.en';
import { activity } from './activity.en';
import { cleaning } from './cleaning.en';
import { datasets } from './datasets.en';
import { diff } from './diff.en';
import { drawn } from './drawn.en';
import { item } from './item.en';
import { replicas } from './replicas.en';
import { sources } from './sources.en';
import { upload } from './upload.en';
import { versioning } from './versioning.en';
import { views } from './views.en';
import { warmup } from './warmup.en';
import { writers } from './writers.en';

addWords({
  activity,
  cleaning,
  datasets,
  diff,
  drawn,
  item,
  replicas,
  sources,
  table,
  upload,
  versioning,
  views,
  warmup,
  writers,
});
