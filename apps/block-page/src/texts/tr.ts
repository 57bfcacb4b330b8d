import type { Texts } from './texts.js';

export const tr: Texts = {
  direction: 'ltr',
  blockedTitle: 'Bu site engellendi',
  blockedText: 'Bu siteyi, bu internet bağlantısı için kendi filtre ayarlarınız engelliyor.',
  blockedByLawTitle: 'Bu site yasa gereği engellendi',
  blockedByLawText:
    'İnternet sağlayıcınız bu siteyi tüm müşterileri için engellemek zorundadır. Filtre ' +
    'ayarlarınız bunu değiştirmez.',
  blockedForEverybodyTitle: 'Bu site herkes için engellendi',
  blockedForEverybodyText:
    'İnternet sağlayıcınız bu siteyi tüm müşterileri için engelliyor. Filtre ayarlarınız ' +
    'bunu değiştirmez.',
  notBlockedTitle: 'Bu site engellenmiyor',
  notBlockedText:
    'Filtre ayarlarınız bu siteyi şu anda engellemiyor. Siteye az önce izin verildiyse ' +
    'cihazınız eski yanıtı hâlâ hatırlıyor olabilir. Bir dakika bekleyin, sonra yeniden ' +
    'deneyin.',
  noNameTitle: 'Bu, engellenen siteler için gösterilen sayfadır',
  noNameText: 'Bu sayfayı, filtre ayarlarınızın engellediği bir sitenin yerine görüyorsunuz.',
  notReadyTitle: 'Bu hizmet başlatılıyor',
  notReadyText: 'Ayarlarınızı henüz bilmiyor. Lütfen bir dakika sonra yeniden deneyin.',
  reasonLabel: 'Neden',
  reasonCategory: 'Engellenen kategori',
  reasonApplication: 'Engellenen uygulama',
  reasonList: 'Engellenen siteler listeniz',
  reasonGrant: 'Geçici engel',
  reasonAllowListOnly: 'Yalnızca izin verdiğiniz siteler açılabilir',
  authorityLabel: 'Kararı veren kurum',
  referenceLabel: 'Karar numarası',
  leadsToLabel: 'Yönlendirdiği ad',
  scheduleLabel: 'Zaman çizelgesi',
  scheduleUntil: 'Bu ayarların bitişi',
  scheduleFrom: 'Ayarların bir sonraki değişimi',
  incidentLabel: 'Olay numarası',
  incidentHint:
    'Yardım isterseniz olay numarasını kopyalayın. Onu yalnızca sağlayıcınız, bir gün boyunca okuyabilir.',
  advice: 'Filtre ayarlarını yöneten kişi bu siteye izin verebilir.',
  tryAgain: 'Yeniden dene',
  helpLabel: 'Yardım',
  privacy: 'Bu sayfa çerez kullanmaz ve başka sunuculardan hiçbir şey yüklemez.',
};
