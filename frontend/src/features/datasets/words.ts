import { addWords } from '@/i18n';
import { cleaning } from '@/i18n/cleaning.en';
import { item } from '@/i18n/item.en';
import { sources } from '@/i18n/sources.en';
import { upload } from '@/i18n/upload.en';
import { versioning } from '@/i18n/versioning.en';
import { views } from '@/i18n/views.en';
import { writers } from '@/i18n/writers.en';

addWords({ cleaning, item, sources, upload, versioning, views, writers });
