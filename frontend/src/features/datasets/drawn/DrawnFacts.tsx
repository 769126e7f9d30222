import { useTranslation } from 'react-i18next';
import type { Annotations } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { useAttributeWords } from './attributeWords';

/** Where the annotations of a picture come from, and what they say of the whole picture. */
export function DrawnFacts({ annotations }: { annotations: Annotations }) {
  const { t } = useTranslation();
  const format = useFormat();
  const wordsOf = useAttributeWords();
  const { source, source_model: model, annotator, revision, agreement, audit_state: audit } = annotations;
  const origin = t(`drawn.source.${source}` as 'drawn.source.human', { defaultValue: source });
  const whole = wordsOf(annotations.attributes);
  return (
    <KeyValueList
      items={[
        [t('drawn.facts.source'), model ? `${origin} · ${model}` : origin],
        [t('drawn.facts.annotator'), annotator],
        [t('drawn.facts.revision'), revision !== null && format.number(revision)],
        [t('drawn.facts.agreement'), agreement !== null && format.percent(agreement)],
        [t('drawn.facts.audit'), audit && t(`drawn.audit.${audit}` as 'drawn.audit.accepted', { defaultValue: audit })],
        [t('drawn.facts.classes'), annotations.labels.length > 0 && annotations.labels.join(', ')],
        [t('datasets.attributes'), whole.length > 0 && whole.join(' · ')],
      ]}
    />
  );
}
