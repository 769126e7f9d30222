import { addWords } from '@/i18n';
import { appearance } from '@/i18n/appearance.en';
import { settings } from '@/i18n/settings.en';
import '@/shared/secondFactor/words';

addWords({ appearance, settings });
