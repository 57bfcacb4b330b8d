import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import type { GroupSummary } from './image-format.js';
import type { CatalogueImage } from './image.js';

/** 1,000 domains that people everywhere use. Written by hand for Weir; no ranking that others publish went in. */
export const POPULAR_DOMAINS: readonly string[] = `
126.com 163.com 1password.com 1und1.de aa.com aaplimg.com abnamro.nl academia.edu accuweather.com acer.com acm.org
ad.nl adidas.com admin.ch adobe.com adyen.com aftonbladet.se agenciatributaria.gob.es agenziaentrate.gov.it agoda.com
airbnb.com airfrance.fr airtable.com airtel.in akadns.net akam.net akamai.com akamai.net akamaiedge.net akamaihd.net
akamaized.net alibaba.com alibabacloud.com alicdn.com aliexpress.com aliexpress.us alipay.com aliyun.com aljazeera.com
aljazeera.net allegro.pl allmusic.com allocine.fr amazon.ca amazon.co.jp amazon.co.uk amazon.com amazon.com.au
amazon.com.br amazon.com.mx amazon.de amazon.es amazon.fr amazon.in amazon.it amazon.nl amazon.pl amazon.se
amazonaws.com amazonvideo.com amd.com ameblo.jp americanexpress.com android.com ansa.it anthropic.com anydesk.com
anz.com aol.com apache.org apnews.com apple-dns.net apple.com apple.news appspot.com archive.org archlinux.org ard.de
ardmediathek.de argos.co.uk arin.net arstechnica.com artstation.com arxiv.org asana.com asda.com asus.com
atlassian.com atlassian.net att.com audible.com auth0.com autoscout24.de autotrader.com avast.com avg.com avito.ru
avm.de awsstatic.com azure.com azureedge.net azurefd.net azurewebsites.net b-cdn.net bahn.de baidu.com bandcamp.com
bankofamerica.com barclays.co.uk battle.net bbc.co.uk bbc.com bbci.co.uk bbva.com bbva.es bdstatic.com belgium.be
berkeley.edu bestbuy.com bigcommerce.com bild.de bilibili.com binance.com bing.com bit.ly bitbucket.org
bitdefender.com bitwarden.com blackboard.com blizzard.com blogger.com blogspot.com bloomberg.com bmw.com
bnpparibas.com bnpparibas.net bol.com bolt.eu booking.com bootstrapcdn.com bosch.com bouyguestelecom.fr box.com
bradesco.com.br brave.com britishairways.com brother.com bsky.app bt.com bund.de bundesliga.com bundesregierung.de
bunny.net bytedance.com byteoversea.com caixabank.es cam.ac.uk canada.ca cancer.org canon.com canonical.com canva.com
capitalone.com carrefour.fr cars.com cbc.com cdc.gov cdiscount.com cdn-apple.com cdn77.org cdninstagram.com
centurylink.com cern.ch change.org channel4.com charter.com chase.com chatgpt.com chrome.com chromium.org cisco.com
citi.com citrix.com claude.ai clevelandclinic.org cloudapp.net cloudflare-dns.com cloudflare.com cloudflare.net
cloudfront.net cnn.com coinbase.com columbia.edu comcast.com comcast.net commbank.com.au commerzbank.de congress.gov
constantcontact.com cornell.edu correos.es corriere.it costco.com coupang.com coursera.org cox.com cra-arc.gc.ca
credit-agricole.fr cricbuzz.com crowdstrike.com crunchyroll.com csdn.net ctvnews.ca cvs.com dailymotion.com
datadoghq.com daum.net debian.org deepl.com deezer.com deliveroo.co.uk dell.com delta.com deutsche-bank.de
deutschepost.de deviantart.com dhl.com dhl.de dhs.gov digicert.com digid.nl digitalocean.com discord.com discord.gg
discord.media discordapp.com discordapp.net disneyplus.com dkb.de dns.google docker.com docker.io docomo.ne.jp
docusign.com docusign.net doi.org doordash.com douyin.com dr.dk dropbox.com dropboxstatic.com dropboxusercontent.com
drugs.com duckduckgo.com duolingo.com dzen.ru ea.com easyjet.com ebay.co.uk ebay.com ebay.de ebay.fr ebay.it
ebayimg.com ebaystatic.com economist.com ecosia.org edgekey.net edgesuite.net edx.org ee.co.uk elmundo.es elpais.com
elster.de emirates.com entrust.net envato.com epa.gov epicgames.com epson.com eset.com espncricinfo.com ethz.ch
etsy.com etsystatic.com europa.eu eventbrite.com eventim.de expedia.com expressen.se f-secure.com facebook.com
facebook.net fandom.com fast.com fastly.com fastly.net fastlylb.net faz.net fb.com fbcdn.net fda.gov fedex.com
fedoraproject.org fidelity.com figma.com firebaseapp.com firebaseio.com firefox.com fitbit.com flickr.com flipkart.com
fnac.com focus.de fontawesome.com forbes.com force.com ford.com formula1.com fortinet.com france.tv free.fr
freepik.com freshdesk.com ft.com g.co gandi.net garmin.com gazeta.pl gazzetta.it genius.com ggpht.com giphy.com
github.com github.io githubassets.com githubusercontent.com gitlab.com glassdoor.com globalsign.com globo.com
gmail.com gmx.de gmx.net gnu.org godaddy.com gofundme.com gog.com golem.de goo.gl goo.ne.jp goodreads.com google.ae
google.at google.be google.ca google.ch google.cl google.co.id google.co.in google.co.jp google.co.kr google.co.th
google.co.uk google.co.za google.com google.com.ar google.com.au google.com.br google.com.co google.com.eg
google.com.hk google.com.mx google.com.sa google.com.sg google.com.tr google.com.tw google.com.vn google.cz google.de
google.dk google.es google.fi google.fr google.gr google.hu google.it google.nl google.no google.pl google.pt
google.ro google.ru google.se googleapis.cn googleapis.com googleusercontent.com googlevideo.com gosuslugi.ru
gotomeeting.com government.nl grammarly.com gravatar.com gstatic.com gvt1.com gvt2.com harvard.edu hbomax.com
hdfcbank.com healthline.com heise.de heroku.com herokuapp.com hetzner.com hetzner.de hln.be hm.com homedepot.com
hotels.com hotmail.com hotstar.com hp.com hs.fi hsbc.co.uk hsbc.com huawei.com hubspot.com huffpost.com huggingface.co
hulu.com iana.org ibm.com icicibank.com icloud-content.com icloud.com idealo.de identrust.com idnes.cz ieee.org
ietf.org ihg.com ikea.com imdb.com imf.org imgur.com immobilienscout24.de imperial.ac.uk impots.gouv.fr indeed.com
india.gov.in ing.com ing.de ing.nl instacart.com instagram.com instagram.net instructure.com intel.com intercom.io
interia.pl intesasanpaolo.com ionos.com iqiyi.com irctc.co.in irishtimes.com irs.gov isc.org itau.com.br itv.com
jd.com jio.com johnlewis.com jquery.com jsdelivr.net jstor.org jtvnw.net just-eat.co.uk kahoot.com kakao.com
kakaocdn.net kaspersky.com kayak.com kernel.org khanacademy.org kickstarter.com king.com klarna.com klm.com kpn.com
kraken.com kroger.com labanquepostale.fr laposte.fr lastpass.com lazada.com leagueoflegends.com leaseweb.com
leboncoin.fr lefigaro.fr lemonde.fr lencr.org lenovo.com lepoint.fr lequipe.fr letsencrypt.org letterboxd.com lg.com
lge.com liberation.fr libero.it licdn.com lieferando.de line-scdn.net line.me linkedin.com linode.com list-manage.com
live.com live.net livejournal.com lloydsbank.co.uk logitech.com logmein.com lowes.com lufthansa.com lyft.com mac.com
macys.com mail.ru mailchi.mp mailchimp.com mailgun.org malwarebytes.com marktplaats.nl marriott.com mastercard.com
mastodon.social max.com mayoclinic.org mcafee.com me.com media-amazon.com mediamarkt.de mediaset.it mediawiki.org
medium.com mercadolibre.com mercadolibre.com.ar mercadolibre.com.mx mercadolivre.com.br mercari.com mercedes-benz.com
messenger.com meta.com mi.com microsoft.com microsoftonline.com minecraft.net miro.com mit.edu mlb.com mobile.de
mojang.com monday.com monster.com moodle.org mozilla.com mozilla.net mozilla.org mpg.de msedge.net msftconnecttest.com
msftncsi.com msn.com my.gov.au myfitnesspal.com myntra.com myshopify.com myspace.com mzstatic.com n-tv.de
namecheap.com nasa.gov nato.int nature.com natwest.com naver.com naver.net nba.com netflix.com netflix.net netgear.com
newrelic.com news.ycombinator.com nflxext.com nflximg.net nflxvideo.net nginx.org nhl.com nicovideo.jp nih.gov
nike.com nintendo.com nintendo.net nist.gov noaa.gov norton.com nos.nl notion.so novinky.cz npmjs.com npmjs.org
npr.org nps.gov nrk.no ntp.org nu.nl nubank.com.br nvidia.com nytimes.com nzherald.co.nz o2.co.uk o2online.de
oaistatic.com oculus.com office.com office.net office365.com ok.ru okta.com olx.com.br olx.pl olympics.com
onedrive.com onet.pl ookla.com openai.com openstreetmap.org opera.com oppo.com oracle.com orange.fr otto.de
outlook.com overheid.nl ovh.net ox.ac.uk oxfordjournals.org ozon.ru paloaltonetworks.com panasonic.com pandora.com
paramountplus.com parliament.uk patreon.com paypal.com paypalobjects.com paytm.com peacocktv.com perplexity.ai
pexels.com philips.com phonepe.com php.net pinimg.com pinterest.com pixiv.net playstation.com playstation.net
politico.com post.ch poste.it postnl.nl premierleague.com primevideo.com princeton.edu producthunt.com propublica.org
pubmed.gov pypi.org python.org qnap.com qq.com qualcomm.com quizlet.com quora.com rabobank.nl rackspace.com
radiofrance.fr rai.it rakuten.co.jp rakuten.com rambler.ru rbc.com rbxcdn.com realtor.com recaptcha.net redcross.org
redd.it reddit.com redditmedia.com redditstatic.com redfin.com redhat.com repubblica.it researchgate.net reuters.com
revolut.com rfc-editor.org rightmove.co.uk riotgames.com ripe.net roblox.com rockstargames.com royalmail.com rte.ie
rtl.nl ryanair.com s-microsoft.com sainsburys.co.uk salesforce.com samsung.com samsungapps.com samsungcloud.com
santander.co.uk santander.com sap.com sberbank.ru sbi.co.in sbs.com.au sc-cdn.net scdn.co schwab.com sciencedirect.com
scribd.com sectigo.com senate.gov sendgrid.net sentry.io service-public.fr servicenow.com seznam.cz sfr.fr
sharepoint.com shein.com shopee.co.id shopee.com shopify.com shopifycdn.com shutterstock.com siemens.com signal.org
sina.com.cn sky.com skype.com skypeforbusiness.com skyscanner.net skysports.com slack-edge.com slack.com slashdot.org
slideshare.net snapchat.com sncf-connect.com societegenerale.com softbank.jp sohu.com sony.com sony.net
sonyentertainmentnetwork.com sophos.com soundcloud.com sourceforge.net southwest.com sparkasse.de spectrum.com
speedtest.net spiegel.de splashtop.com spotify.com spotifycdn.com springer.com squarespace.com squareup.com ssa.gov
ssl-images-amazon.com stackexchange.com stackoverflow.com stanford.edu startpage.com state.gov steamcommunity.com
steamcontent.com steampowered.com steamstatic.com stepstone.de strato.de strava.com stripe.com stripe.network
stubhub.com substack.com sueddeutsche.de supercell.com surveymonkey.com svt.se swiggy.com synology.com t-mobile.com
t-online.de t.co t.me tagesschau.de taobao.com target.com td.com teamviewer.com ted.com telegraaf.nl telegram.org
telekom.de temu.com tencent.com tenor.com tesco.com tesla.com tf1.fr theglobeandmail.com theguardian.com threads.net
ticketmaster.com tidal.com tiktok.com tiktokcdn.com tiktokv.com tim.it time.com timeanddate.com timesofindia.com
tinkoff.ru tinyurl.com tmall.com tokopedia.com tomshardware.com toyota.com tp-link.com trafficmanager.net trello.com
trendmicro.com trenitalia.com trip.com tripadvisor.com ttvnw.net tum.de tumblr.com turnitin.com tv2.dk twilio.com
twimg.com twitch.tv twitter.com typeform.com typekit.net uber.com ubereats.com ubisoft.com ubs.com ubuntu.com
ucl.ac.uk ucla.edu udemy.com uefa.com ui.com umich.edu un.org unicredit.it united.com unity.com unity3d.com unpkg.com
unrealengine.com unsplash.com uol.com.br upenn.edu ups.com usa.gov usatoday.com usbank.com userapi.com usertrust.com
usps.com vanguard.com vecteezy.com vercel.app vercel.com verisign.com verizon.com vg.no viber.com vimeo.com
virgilio.it virginmedia.com virustotal.com visa.com visualstudio.com vivo.com vk.com vmware.com vodafone.com
vodafone.de volkswagen.com vrbo.com vrt.be w3.org wa.me walgreens.com walmart.com washington.edu washingtonpost.com
weather.com weather.gov web.app web.de webex.com webflow.com wechat.com weebly.com weibo.com wellsfargo.com welt.de
westernunion.com westpac.com.au wetransfer.com whatsapp.com whatsapp.net whitehouse.gov who.int who.org wikibooks.org
wikidata.org wikihow.com wikimedia.org wikipedia.org wikisource.org wildberries.ru windows.com windows.net
windowsupdate.com wise.com withgoogle.com wix.com wixstatic.com wordpress.com wordpress.org workday.com worldbank.org
wp.com wp.pl wsj.com wto.org wunderground.com www.gob.mx www.gov.br www.gov.pl www.gov.uk www.nhs.uk x.com xbox.com
xboxlive.com xfinity.com xiaohongshu.com xiaomi.com yahoo.co.jp yahoo.com yahooapis.jp yale.edu yandex.com yandex.net
yandex.ru yastatic.net yelp.com yimg.jp yle.fi youku.com youtu.be youtube-nocookie.com youtube.com ytimg.com
zalando.com zalando.de zara.com zdf.de zeit.de zendesk.com zhihu.com ziggo.nl zillow.com zomato.com zoom.us
zscaler.com
`
  .trim()
  .split(/\s/);

/** Well-known domains that a category blocks although nobody expects it. */
export interface PopularNames {
  readonly categoryId: number;
  readonly count: number;
  /** Of a secret category none. */
  readonly domains: readonly string[];
}

/** In these categories a well-known domain is more likely an error of a list than meant. */
function isUnexpected({ purpose, mandatory = false }: GroupSummary): boolean {
  return purpose === 'security' || mandatory;
}

/** The categories of purpose `security`, and mandatory ones, that list a well-known domain or one above it. */
export function findPopular(image: CatalogueImage, key: HashKey): PopularNames[] {
  const hashes = new SuffixHashes(key);
  const found = new Map(
    image.categories.filter(isUnexpected).map(({ id }) => [id, [] as string[]]),
  );
  for (const domain of found.size === 0 ? [] : POPULAR_DOMAINS) {
    const count = hashes.compute(toWireName(domain), 0);
    const ids = new Set<number>();
    for (let suffix = 0; suffix < count; suffix++) {
      const at = image.find(hashes, suffix);
      const categories = at === 0 ? 0 : image.memberships[at];
      for (const id of image.memberships.subarray(at + 2, at + 2 + categories)) ids.add(id);
    }
    for (const id of ids) found.get(id)?.push(domain);
  }
  return Array.from(found, ([categoryId, domains]) => ({
    ...{ categoryId, count: domains.length },
    domains: image.category(categoryId)?.secret === true ? [] : domains,
  })).filter(({ count }) => count > 0);
}
