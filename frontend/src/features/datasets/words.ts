import { addWords } from '@/i18n';
import { activity } from '@/i18n/activity.en';
import { cleaning } from '@/i18n/cleaning.en';
import { datasets } from '@/i18n/datasets.en';
import { diff } from '@/i18n/diff.en';
import { item } from '@/i18n/item.en';
import { sources } from '@/i18n/sources.en';
import { table } from '@/i18n/table.en';
import { upload } from '@/i18n/upload.en';
import { versioning } from '@/i18n/versioning.en';
import { views } from '@/i18n/views.en';
import { writers } from '@/i18n/writers.en';

addWords({ activity, cleaning, datasets, diff, item, sources, table, upload, versioning, views, writers });
