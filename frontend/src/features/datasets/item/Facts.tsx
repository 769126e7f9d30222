import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import { CopyId } from '@/shared/ui/CopyId';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { Bytes } from '@/shared/ui/values';
import type { VersionAddress } from '../queries';
import { usePicture } from './queries';
import { Section } from './Section';

interface FactsProps {
  address: VersionAddress;
  entry: Entry;
  /** Width and height as the browser shows it: turned as its EXIF says. */
  shown: [number, number] | null;
}

/** Facts of the file, its attributes, and the data that the picture holds about itself. */
export function Facts({ address, entry, shown }: FactsProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const picture = usePicture(address, entry.path, entry.media_type.startsWith('image/')).data?.picture;
  const [width, height] = picture ? [picture.width, picture.height] : (shown ?? [0, 0]);
  const attributes = Object.entries(entry.attributes);
  const exif = Object.entries(picture?.exif ?? {});
  return (
    <>
      <Section title={t('item.facts')}>
        <KeyValueList
          items={[
            [t('datasets.labelFilter'), entry.label ? <Badge key="label">{entry.label}</Badge> : t('datasets.noLabel')],
            [t('datasets.split'), entry.split],
            [t('datasets.type'), [entry.media_type, picture?.mode].filter(Boolean).join(' · ')],
            [
              t('item.dimensions'),
              width > 0 && t('item.pixels', { width: format.number(width), height: format.number(height) }),
            ],
            [t('datasets.size'), <Bytes key="size" value={entry.size_bytes} />],
            [t('datasets.digest'), <CopyId key="digest" value={entry.digest} chars={16} />],
          ]}
        />
      </Section>
      {attributes.length > 0 && (
        <Section title={t('datasets.attributes')}>
          <KeyValueList
            items={attributes.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)])}
          />
        </Section>
      )}
      {exif.length > 0 && (
        <Section title={t('item.exif')}>
          <KeyValueList items={exif} />
        </Section>
      )}
    </>
  );
}
