import { cleaning } from './cleaning.en';
import first from './en.first';
import { item } from './item.en';
import { sources } from './sources.en';
import { upload } from './upload.en';
import { versioning } from './versioning.en';
import { views } from './views.en';
import { writers } from './writers.en';

/** All words. Those that are not in `en.first` come with the pages that say them: see `addWords`. */
const en = { ...first, cleaning, item, sources, upload, versioning, views, writers };
export default en;
