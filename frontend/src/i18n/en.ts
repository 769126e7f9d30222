import { cleaning } from './cleaning.en';
import { compare } from './compare.en';
import first from './en.first';
import { health } from './health.en';
import { item } from './item.en';
import { runpage } from './runpage.en';
import { runs } from './runs.en';
import { sources } from './sources.en';
import { upload } from './upload.en';
import { versioning } from './versioning.en';
import { views } from './views.en';
import { webhooks } from './webhooks.en';
import { writers } from './writers.en';

/** All words. Those that are not in `en.first` come with the pages that say them: see `addWords`. */
const en = {
  ...first,
  cleaning,
  compare,
  health,
  item,
  runpage,
  runs,
  sources,
  upload,
  versioning,
  views,
  webhooks,
  writers,
};
export default en;
